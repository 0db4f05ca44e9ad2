//! The clients: they send, repeat, send twice at once, reuse keys, give up; and they write down what they hear.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::orders::{Log, Order, Said, Sender};
use super::random::Random;
use crate::client::Client;
use crate::process::PATIENCE;

/// Users of every round. Each round opens new accounts, so that none runs dry that is not meant to.
const USERS: usize = 4;
/// Accounts of one user and round; the first of each runs dry.
const ACCOUNTS_EACH: usize = 3;
/// Payees of one user.
const PAYEES: [&str; 2] = ["012180004643051249", "646180110400000007"];
/// What the sandbox puts into a new account, in centavos.
pub(crate) const OPENING_CREDIT: i64 = 1_000_000;

/// Of a hundred orders: how many have no key, are sent twice at once, were sent before, or reuse a key. The others
/// are new and have a key of their own.
const KEYLESS: u64 = 15;
const TWINS: u64 = 10;
const REPEATED: u64 = 10;
const REUSED: u64 = 5;

/// Who has no clear answer gives up once in so many times, and else tries again.
const GIVES_UP_ONE_IN: u64 = 6;
/// And gives up for certain after so many: more than a restart takes.
const TRIES_MAX: usize = 100;
/// Longest pause before trying again, in milliseconds.
const RETRY_PAUSE_MAX: u64 = 300;
/// Pause before looking again for a service that is away.
const AWAY_PAUSE: Duration = Duration::from_millis(20);

const PATH: &str = "/api/ledger/transactions";

/// What all clients and the test share.
pub(crate) struct World {
    pub(crate) log: Mutex<Log>,
    /// Requests that are sent and not answered.
    in_flight: Mutex<usize>,
    /// Where the service is, while it is anywhere.
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

    /// With `true`, clients end as soon as they are done with their order.
    pub(crate) fn set_stop(&self, stop: bool) {
        self.stop.store(stop, Relaxed);
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.log.lock().unwrap().acknowledged
    }

    /// Does it if at least so many requests are in flight, and gives their number. Nobody takes an answer or sends
    /// a request meanwhile.
    pub(crate) fn with_in_flight(&self, least: usize, what: impl FnOnce()) -> Option<usize> {
        let in_flight = self.in_flight.lock().unwrap();
        (*in_flight >= least).then(|| {
            what();
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

/// One client, until it is told to stop.
pub(crate) async fn run(world: Arc<World>, senders: Arc<[Arc<Sender>]>, mut random: Random) {
    let (mut line, mut second_line) = (Line::new(&world), Line::new(&world));
    while !world.stop.load(Relaxed) {
        let choice = random.below(100);
        if choice < KEYLESS {
            // Without a key nobody can ask again.
            line.ask(&world.new_order(&senders, false, &mut random)).await;
        } else if choice < KEYLESS + TWINS {
            let order = world.new_order(&senders, true, &mut random);
            tokio::join!(line.pursue(&order, random.fork()), second_line.pursue(&order, random.fork()));
        } else if choice < KEYLESS + TWINS + REPEATED + REUSED {
            let is_reused = choice >= KEYLESS + TWINS + REPEATED;
            let order = {
                let mut log = world.log.lock().unwrap();
                let earlier = log.earlier(&mut random);
                // Another amount under the same key.
                earlier.map(
                    |order| {
                        if is_reused { log.add(&order.sender, order.key.clone(), &mut random) } else { order }
                    },
                )
            };
            if let Some(order) = order {
                line.pursue(&order, random.fork()).await;
            }
        } else {
            line.pursue(&world.new_order(&senders, true, &mut random), random.fork()).await;
        }
    }
}

/// A connection to wherever the service is.
struct Line<'a> {
    world: &'a World,
    kept: Option<(SocketAddr, Client)>,
}

impl<'a> Line<'a> {
    fn new(world: &'a World) -> Self {
        Self { world, kept: None }
    }

    /// Asks until the answer is clear, or for as long as it cares.
    async fn pursue(&mut self, order: &Order, mut random: Random) {
        for _ in 0..TRIES_MAX {
            if self.ask(order).await.is_final() || random.one_in(GIVES_UP_ONE_IN) {
                return;
            }
            sleep(Duration::from_millis(random.below(RETRY_PAUSE_MAX))).await;
        }
    }

    /// One attempt, written down.
    async fn ask(&mut self, order: &Order) -> Said {
        let connected = timeout(PATIENCE, self.connect()).await;
        let (address, mut client) = connected.expect("the service does not come back");
        self.world.log.lock().unwrap().sent(order);
        let answer = self.exchange(&mut client, order).await;
        let said = match &answer {
            Some((status, text)) => understand(order, *status, text),
            None => Said::Silence,
        };
        // After silence there may be half an answer on it.
        self.kept = answer.is_some().then_some((address, client));
        self.world.log.lock().unwrap().heard(order, said);
        said
    }

    async fn connect(&mut self) -> (SocketAddr, Client) {
        let mut place = self.world.address.subscribe();
        loop {
            let address = place.wait_for(Option::is_some).await.unwrap().unwrap();
            if let Some(kept) = self.kept.take().filter(|(kept, _)| *kept == address) {
                return kept;
            }
            if let Ok(client) = Client::connect(address).await {
                return (address, client);
            }
            sleep(AWAY_PAUSE).await;
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
        // Longer than the service gives a request.
        let answer = timeout(PATIENCE * 2, client.read()).await;
        *self.world.in_flight.lock().unwrap() -= 1;
        answer.expect("a request is neither answered nor broken off").ok()
    }
}

/// What an answer means. One that is none of these ends the test.
fn understand(order: &Order, status: u16, text: &str) -> Said {
    let answer: Value = serde_json::from_str(text).unwrap();
    match (status, answer["code"].as_str().unwrap_or_default()) {
        (200, _) => {
            assert_eq!(centavos(&answer["amount"]), order.amount, "{answer}");
            assert_eq!(answer["fromAccountId"], order.sender.account.to_string(), "{answer}");
            Said::Made(id(&answer))
        }
        (400, "insufficient-funds") => Said::Refused,
        (422, "idempotency-key-reused") => Said::Bound,
        (503, "overloaded" | "model-unavailable") => Said::Untouched,
        (503, "database-unavailable" | "outcome-unknown" | "timed-out") => Said::Unknown,
        _ => panic!("{status} {answer}"),
    }
}
