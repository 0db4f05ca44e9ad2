//! Sending accounts, and HTTP clients that send from them.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::client::Client;
use crate::figures::Figures;
use crate::host::Host;
use crate::{ACCOUNTS, CLIENTS};

pub(crate) const PATH: &str = "/api/ledger/transactions";

/// Per user.
const ACCOUNTS_EACH: usize = 5;

/// The distribution of transfers over accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    Uniform,
    /// The n-th account sends 1/n as often as the first.
    Zipf,
    /// A single account.
    Hot,
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
            Self::Hot => "hot",
        })
    }
}

/// When clients stop.
#[derive(Debug, Clone)]
pub(crate) enum Until {
    Time(Duration),
    /// When this counter of transfers left to send reaches 0.
    Sent(Arc<AtomicUsize>),
}

impl Until {
    fn continues(&self, start: Instant) -> bool {
        match self {
            Self::Time(time) => start.elapsed() < *time,
            Self::Sent(left) => left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok(),
        }
    }
}

/// An account, its owner's token and its payee.
#[derive(Clone)]
pub(crate) struct Sender {
    pub(crate) authorization: String,
    pub(crate) account_id: Uuid,
    pub(crate) body: String,
}

impl Sender {
    /// Request headers, with an idempotency key.
    pub(crate) fn headers(&self, key: &str) -> String {
        format!("{}idempotency-key: {key}\r\n", self.authorization)
    }
}

/// Opens `count` accounts.
pub(crate) async fn open(host: &Host, count: usize) -> Vec<Sender> {
    let mut client = Client::connect(host.address()).await.unwrap();
    let mut senders = Vec::with_capacity(count);
    let (mut authorization, mut payee) = (String::new(), json!(null));
    for number in 0..count {
        if number % ACCOUNTS_EACH == 0 {
            authorization = host.authorization(&format!("user-{}", number / ACCOUNTS_EACH)).await;
            let saved = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
            payee = client.create("/api/ledger/beneficiaries", &authorization, &saved).await;
        }
        let account = json!({"accountNumber": format!("6461801104{number:08}"), "accountType": "checking"});
        let account = client.create("/api/ledger/accounts", &authorization, &account).await;
        let body = json!({"fromAccountId": account["id"], "toBeneficiaryId": payee["id"], "amount": 0.01});
        senders.push(Sender {
            authorization: authorization.clone(),
            account_id: account["id"].as_str().unwrap().parse().unwrap(),
            body: body.to_string(),
        });
    }
    senders
}

/// A host and its accounts.
pub(crate) struct Service {
    pub(crate) host: Host,
    senders: Arc<[Sender]>,
}

impl Service {
    pub(crate) async fn new(host: Host) -> Self {
        let senders = open(&host, ACCOUNTS).await.into();
        Self { host, senders }
    }

    /// Another host of the same ledger, with the accounts of `other`.
    pub(crate) fn of(host: Host, other: &Self) -> Self {
        Self { host, senders: Arc::clone(&other.senders) }
    }

    /// The first account.
    pub(crate) fn sender(&self) -> &Sender {
        &self.senders[0]
    }

    pub(crate) async fn run(&self, spread: Spread, until: Until) -> Figures {
        load(&[self.host.address()], &self.senders, CLIENTS, spread, until).await
    }
}

/// Closed-loop load: each client of one of the hosts sends its next transfer when the previous one is answered.
pub(crate) async fn load(
    hosts: &[SocketAddr],
    senders: &Arc<[Sender]>,
    count: usize,
    spread: Spread,
    until: Until,
) -> Figures {
    let mut clients = JoinSet::new();
    let start = Instant::now();
    for client in 0..count {
        let (address, senders, until) = (hosts[client % hosts.len()], Arc::clone(senders), until.clone());
        clients.spawn(run_client(client, address, senders, spread, until, start));
    }
    let mut figures = Figures { took: Vec::new(), failed: 0, time: Duration::ZERO };
    while let Some(done) = clients.join_next().await {
        let (took, failed) = done.unwrap();
        figures.took.extend(took);
        figures.failed += failed;
    }
    figures.time = start.elapsed();
    figures
}

async fn run_client(
    number: usize,
    address: SocketAddr,
    senders: Arc<[Sender]>,
    spread: Spread,
    until: Until,
    start: Instant,
) -> (Vec<Duration>, usize) {
    let mut connection = Client::connect(address).await.unwrap();
    let (mut took, mut failed) = (Vec::new(), 0);
    let mut random = number as u64;
    while until.continues(start) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let sender = &senders[pick(spread, senders.len(), random >> 11)];
        let headers = sender.headers(&Uuid::new_v4().to_string());
        let sent = Instant::now();
        let (status, answer) = connection.send("POST", PATH, &headers, &sender.body).await.unwrap();
        if status == 200 && answer.contains("\"status\":\"completed\"") {
            took.push(sent.elapsed());
        } else {
            failed += 1;
        }
    }
    (took, failed)
}

/// The next account; `random` has 53 bits.
fn pick(spread: Spread, count: usize, random: u64) -> usize {
    let share = random as f64 / (1_u64 << 53) as f64;
    match spread {
        Spread::Uniform => (share * count as f64) as usize,
        // The inverse of the harmonic sum, which grows logarithmically.
        Spread::Zipf => ((count as f64).powf(share) as usize - 1).min(count - 1),
        Spread::Hot => 0,
    }
}
