//! Three hosts on one Postgres debit one account concurrently.
//!
//! Every client talks to one host, and sends each tenth transfer to the next host too, at the same time and with the
//! same key. At the end, without load, orders without a transfer are sent again: then every key has exactly one
//! transfer, and the account is debited by exactly their sum.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::client::Client;
use crate::database::{Database, Server};
use crate::figures::Figures;
use crate::host::Host;
use crate::processor::Used;
use crate::report::say;
use crate::senders::{self, PATH, Sender};
use crate::{CLIENTS, Settings};

const HOSTS: usize = 3;

/// One transfer in this many is sent to two hosts at once.
const DOUBLE_EVERY: u64 = 10;

/// The account's opening credit in centavos; each transfer takes one.
const OPENING: i64 = 1_000_000;

/// Attempts to send an order again at the end, without competing load.
const ATTEMPTS_MAX: usize = 20;

/// What clients sent and got.
#[derive(Default)]
struct Tally {
    took: Vec<Duration>,
    /// Responses by status.
    statuses: BTreeMap<u16, usize>,
    /// Keys and their transfers.
    made: Vec<(String, Uuid)>,
    /// Keys without a transfer.
    open: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.took.extend(other.took);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.made.extend(other.made);
        self.open.extend(other.open);
    }

    /// Records the responses to one key, from one host or two.
    fn record(&mut self, key: String, answers: &[(u16, String)]) {
        let mut ids: Vec<Uuid> = Vec::new();
        for (status, body) in answers {
            *self.statuses.entry(*status).or_default() += 1;
            if *status == 200 {
                let body: Value = serde_json::from_str(body).unwrap();
                ids.push(body["id"].as_str().unwrap().parse().unwrap());
            }
        }
        assert!(ids.iter().all(|id| *id == ids[0]), "one key has two transfers: {ids:?}");
        match ids.first() {
            Some(id) => self.made.push((key, *id)),
            None => self.open.push(key),
        }
    }
}

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let database = server.database("hosts").await;
    let deadlocks = database.deadlocks().await;
    let hosts: Vec<Host> = (0..HOSTS).map(|_| Host::start(&database)).collect();
    let sender = Arc::new(senders::open(&hosts[0], 1).await.remove(0));
    let pids: Vec<u32> = hosts.iter().map(Host::pid).collect();
    say!("{HOSTS} hosts, {CLIENTS} clients, one account, {} s", settings.time.as_secs());
    say!("{}", Figures::HEAD);
    let before = Used::now(&pids, server.pid());
    let (mut tally, time) = hammer(&hosts, &sender, settings.time).await;
    let used = Used::now(&pids, server.pid()).since(&before);
    let failed = tally.open.len();
    say!("{}", Figures { took: std::mem::take(&mut tally.took), failed, time }.line("caudal, 3 hosts", &used));
    say!("responses by status: {:?}", tally.statuses);

    let written = transfers(&database, sender.account_id).await;
    say!("{} transfers were acknowledged, {} exist", tally.made.len(), written);
    send_again(&hosts, &sender, &mut tally).await;
    hosts.into_iter().for_each(Host::stop);
    check(&database, &sender, &tally).await;
    let deadlocks = database.deadlocks().await - deadlocks;
    say!(
        "{failed} were sent again; {} keys have one transfer each; deadlocks: {deadlocks}; {}",
        tally.made.len(),
        Host::verify(&database)
    );
    assert_eq!(deadlocks, 0);
    server.drop(database).await;
}

async fn hammer(hosts: &[Host], sender: &Arc<Sender>, time: Duration) -> (Tally, Duration) {
    let mut clients = JoinSet::new();
    let start = Instant::now();
    for client in 0..CLIENTS {
        let (own, next) = (hosts[client % HOSTS].address(), hosts[(client + 1) % HOSTS].address());
        clients.spawn(run_client(own, next, Arc::clone(sender), start, time));
    }
    let mut tally = Tally::default();
    while let Some(done) = clients.join_next().await {
        tally.add(done.unwrap());
    }
    (tally, start.elapsed())
}

async fn run_client(own: SocketAddr, next: SocketAddr, sender: Arc<Sender>, start: Instant, time: Duration) -> Tally {
    let (mut own, mut next) = (Client::connect(own).await.unwrap(), Client::connect(next).await.unwrap());
    let mut tally = Tally::default();
    for turn in 1.. {
        if start.elapsed() >= time {
            break;
        }
        let key = Uuid::new_v4().to_string();
        let headers = sender.headers(&key);
        let sent = Instant::now();
        let mut answers = Vec::new();
        if turn % DOUBLE_EVERY == 0 {
            let send =
                (own.send("POST", PATH, &headers, &sender.body), next.send("POST", PATH, &headers, &sender.body));
            let (one, other) = tokio::join!(send.0, send.1);
            answers.extend([one.unwrap(), other.unwrap()]);
        } else {
            answers.push(own.send("POST", PATH, &headers, &sender.body).await.unwrap());
        }
        let before = tally.made.len();
        tally.record(key, &answers);
        tally.took.extend((tally.made.len() > before).then(|| sent.elapsed()));
    }
    tally
}

/// Sends orders without a transfer until they have one.
async fn send_again(hosts: &[Host], sender: &Sender, tally: &mut Tally) {
    let mut client = Client::connect(hosts[0].address()).await.unwrap();
    for _ in 0..ATTEMPTS_MAX {
        for key in std::mem::take(&mut tally.open) {
            let answer = client.send("POST", PATH, &sender.headers(&key), &sender.body).await.unwrap();
            tally.record(key, &[answer]);
        }
    }
    assert!(tally.open.is_empty(), "{} transfers cannot be made", tally.open.len());
}

async fn transfers(database: &Database, account_id: Uuid) -> i64 {
    let count = "select count(*) from transfer where debit_account_id = $1";
    sqlx::query_scalar(count).bind(account_id).fetch_one(&mut database.connect().await).await.unwrap()
}

/// Each key has the acknowledged transfer, each transfer one debit, and there are no others.
async fn check(database: &Database, sender: &Sender, tally: &Tally) {
    let (keys, ids): (Vec<_>, Vec<_>) = tally.made.iter().cloned().unzip();
    let (kept, debits, sent, posted): (i64, i64, i64, i64) = sqlx::query_as(
        "select
            (select count(*) from unnest($2::text[], $3::uuid[]) as k (key, transfer_id)
                join idempotency using (key, transfer_id) join transfer t using (transfer_id)
                where t.debit_account_id = $1 and t.amount = 1 and t.status = 'completed'),
            (select count(distinct transfer_id) from entry where account_id = $1 and delta < 0),
            (select coalesce(-sum(delta), 0)::bigint from entry where account_id = $1 and delta < 0),
            (select posted from account_balance where account_id = $1)",
    )
    .bind(sender.account_id)
    .bind(&keys)
    .bind(&ids)
    .fetch_one(&mut database.connect().await)
    .await
    .unwrap();
    let made = i64::try_from(tally.made.len()).unwrap();
    let distinct = ids.iter().collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(distinct, ids.len(), "two keys have one transfer");
    assert_eq!(transfers(database, sender.account_id).await, made);
    assert_eq!((kept, debits, sent, posted), (made, made, made, OPENING - made));
}
