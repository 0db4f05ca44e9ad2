//! The clients: they send, retry, send twice at once, reuse keys and give up, and they log every reply.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::orders::{Log, Order, Reply, Sender};
use crate::client::Client;
use crate::process::PATIENCE;
use crate::random::Random;

/// The same in every round. Each round opens new accounts, so that none runs dry unintentionally.
const USERS: usize = 4;
/// Per user and round; the first of them runs dry.
const ACCOUNTS_EACH: usize = 3;
/// Payees of each user.
const PAYEES: [&str; 2] = ["012180004643051249", "646180110400000007"];
/// What the sandbox credits to a new account, in centavos.
pub(crate) const OPENING_CREDIT: i64 = 1_000_000;

/// Percentages of orders without a key, sent twice at once, sent before, and with another order's key. The others are
/// new and have a key of their own.
const KEYLESS: u64 = 15;
const TWINS: u64 = 10;
const REPEATED: u64 = 10;
const REUSED: u64 = 5;

/// After a reply that is not final, one client in this many gives up; the others retry.
const GIVE_UP_ONE_IN: u64 = 6;
/// More than a restart takes.
const TRIES_MAX: usize = 100;
/// In milliseconds.
const RETRY_PAUSE_MAX: u64 = 300;
/// Pause between two attempts to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(20);

const PATH: &str = "/api/ledger/transactions";

/// Shared by the clients and the test.
pub(crate) struct World {
    pub(crate) log: Mutex<Log>,
    /// Requests sent and not yet answered.
    in_flight: Mutex<usize>,
    /// The address of the service while it runs.
    address: watch::Sender<Option<SocketAddr>>,
    stop: AtomicBool,
}

impl World {
    pub(crate) fn new() -> Self {
        let (log, address) = (Mutex::default(), watch::Sender::new(None));
        Self { log, in_flight: Mutex::new(0), address, stop: AtomicBool::new(false) }
    }

    pub(crate) fn move_to(&self, address: Option<SocketAddr>) {
        self.address.send_replace(address);
    }

    /// With `true`, each client ends after its present order.
    pub(crate) fn set_stop(&self, stop: bool) {
        self.stop.store(stop, Relaxed);
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.log.lock().unwrap().acknowledged
    }

    /// Runs `action` if at least `min` requests are in flight, and returns their number. Meanwhile no client sends a
    /// request or receives a reply.
    pub(crate) fn with_in_flight(&self, min: usize, action: impl FnOnce()) -> Option<usize> {
        let in_flight = self.in_flight.lock().unwrap();
        (*in_flight >= min).then(|| {
            action();
            *in_flight
        })
    }

    fn new_order(&self, senders: &[Arc<Sender>], has_key: bool, random: &mut Random) -> Arc<Order> {
        let mut log = self.log.lock().unwrap();
        let key = has_key.then(|| format!("key-{}", log.orders.len()));
        log.add(random.pick(senders), key, random)
    }
}

/// Opens the accounts of a round.
pub(crate) async fn open(address: SocketAddr, round: usize) -> Vec<Arc<Sender>> {
    let mut client = Client::connect(address).await.unwrap();
    let mut senders = Vec::new();
    for user in 0..USERS {
        let owner = format!("user-{user}");
        let token = post(&mut client, "/sandbox/token", "", &format!(r#"{{"user":"{owner}"}}"#)).await;
        let authorization = format!("authorization: Bearer {}\r\n", token["token"].as_str().unwrap());
        let mut payees = Vec::new();
        for number in PAYEES {
            let payee = format!(r#"{{"name":"Luis","accountNumber":"{number}","bankName":"BBVA"}}"#);
            payees.push(id(&post(&mut client, "/api/ledger/beneficiaries", &authorization, &payee).await));
        }
        for number in 0..ACCOUNTS_EACH {
            let account =
                format!(r#"{{"accountNumber":"6461801{round:05}{user:03}{number:03}","accountType":"checking"}}"#);
            let account = post(&mut client, "/api/ledger/accounts", &authorization, &account).await;
            assert_eq!(centavos(&account["balance"]), OPENING_CREDIT);
            senders.push(Arc::new(Sender {
                owner: owner.clone(),
                authorization: authorization.clone(),
                account: id(&account),
                payees: payees.clone(),
                runs_dry: number == 0,
                orders: AtomicI64::new(0),
            }));
        }
    }
    senders
}

async fn post(client: &mut Client, path: &str, headers: &str, body: &str) -> Value {
    let (status, answer) = client.send("POST", path, headers, body).await.unwrap();
    assert!((200..300).contains(&status), "{path}: {status} {answer}");
    serde_json::from_str(&answer).unwrap()
}

fn id(value: &Value) -> Uuid {
    value["id"].as_str().unwrap().parse().unwrap()
}

fn centavos(amount: &Value) -> i64 {
    (amount.as_f64().unwrap() * 100.0).round() as i64
}

/// One client, until [`World::set_stop`].
pub(crate) async fn run(world: Arc<World>, senders: Arc<[Arc<Sender>]>, mut random: Random) {
    let (mut connection, mut second) = (Connection::new(&world), Connection::new(&world));
    while !world.stop.load(Relaxed) {
        let choice = random.below(100);
        if choice < KEYLESS {
            // Without a key a retry could send twice.
            connection.send(&world.new_order(&senders, false, &mut random)).await;
        } else if choice < KEYLESS + TWINS {
            let order = world.new_order(&senders, true, &mut random);
            let (one, other) = (random.fork(), random.fork());
            tokio::join!(connection.send_until_final(&order, one), second.send_until_final(&order, other));
        } else if choice < KEYLESS + TWINS + REPEATED + REUSED {
            let is_reused = choice >= KEYLESS + TWINS + REPEATED;
            let order = {
                let mut log = world.log.lock().unwrap();
                let earlier = log.earlier(&mut random);
                // A reused key has another amount.
                earlier.map(
                    |order| {
                        if is_reused { log.add(&order.sender, order.key.clone(), &mut random) } else { order }
                    },
                )
            };
            if let Some(order) = order {
                connection.send_until_final(&order, random.fork()).await;
            }
        } else {
            connection.send_until_final(&world.new_order(&senders, true, &mut random), random.fork()).await;
        }
    }
}

/// A connection to the service, wherever it runs.
struct Connection<'a> {
    world: &'a World,
    idle: Option<(SocketAddr, Client)>,
}

impl<'a> Connection<'a> {
    fn new(world: &'a World) -> Self {
        Self { world, idle: None }
    }

    /// Retries until the reply is final, or gives up.
    async fn send_until_final(&mut self, order: &Order, mut random: Random) {
        for _ in 0..TRIES_MAX {
            if self.send(order).await.is_final() || random.one_in(GIVE_UP_ONE_IN) {
                return;
            }
            sleep(Duration::from_millis(random.below(RETRY_PAUSE_MAX))).await;
        }
    }

    /// Makes one attempt and logs it.
    async fn send(&mut self, order: &Order) -> Reply {
        let connected = timeout(PATIENCE, self.connect()).await;
        let (address, mut client) = connected.expect("the service does not come back");
        self.world.log.lock().unwrap().sent(order);
        let response = self.exchange(&mut client, order).await;
        let reply = match &response {
            Some((status, text)) => interpret(order, *status, text),
            None => Reply::None,
        };
        // Without a response the connection is in an unknown state.
        self.idle = response.is_some().then_some((address, client));
        self.world.log.lock().unwrap().received(order, reply);
        reply
    }

    async fn connect(&mut self) -> (SocketAddr, Client) {
        let mut place = self.world.address.subscribe();
        loop {
            let address = place.wait_for(Option::is_some).await.unwrap().unwrap();
            if let Some(idle) = self.idle.take().filter(|(idle, _)| *idle == address) {
                return idle;
            }
            if let Ok(client) = Client::connect(address).await {
                return (address, client);
            }
            sleep(CONNECT_PAUSE).await;
        }
    }

    async fn exchange(&self, client: &mut Client, order: &Order) -> Option<(u16, String)> {
        let key = order.key.as_ref().map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
        let headers = format!("{}{key}", order.sender.authorization);
        let (account, payee) = (order.sender.account, order.payee);
        let (pesos, centavos) = (order.amount / 100, order.amount % 100);
        let body =
            format!(r#"{{"fromAccountId":"{account}","toBeneficiaryId":"{payee}","amount":{pesos}.{centavos:02}}}"#);
        client.write("POST", PATH, &headers, &body).await.ok()?;
        *self.world.in_flight.lock().unwrap() += 1;
        // Longer than the service's own timeout.
        let answer = timeout(PATIENCE * 2, client.read()).await;
        *self.world.in_flight.lock().unwrap() -= 1;
        answer.expect("a request is neither answered nor disconnected").ok()
    }
}

/// Panics on an unexpected response.
fn interpret(order: &Order, status: u16, text: &str) -> Reply {
    let answer: Value = serde_json::from_str(text).unwrap();
    match (status, answer["code"].as_str().unwrap_or_default()) {
        (200, _) => {
            assert_eq!(centavos(&answer["amount"]), order.amount, "{answer}");
            assert_eq!(answer["fromAccountId"], order.sender.account.to_string(), "{answer}");
            Reply::Made(id(&answer))
        }
        (400, "insufficient-funds") => Reply::Refused,
        (422, "idempotency-key-reused") => Reply::Bound,
        (503, "overloaded" | "model-unavailable") => Reply::Untouched,
        (503, "database-unavailable" | "outcome-unknown" | "timed-out") => Reply::Unknown,
        _ => panic!("{status} {answer}"),
    }
}
