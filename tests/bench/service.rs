//! Our side: the real service on the same Postgres, asked over HTTP.

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::client::Client;
use crate::figures::Figures;
use crate::{ACCOUNTS, CLIENTS};

/// Accounts of one user.
const ACCOUNTS_EACH: usize = 5;

/// Which accounts send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// All alike.
    Uniform,
    /// The n-th most frequent one 1/n as often as the first.
    Zipf,
    /// One alone.
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

/// An account, its owner's token and its payee.
#[derive(Clone)]
struct Sender {
    authorization: String,
    body: String,
}

pub(crate) struct Service {
    child: Child,
    address: SocketAddr,
    senders: Vec<Sender>,
    data: String,
}

impl Service {
    pub(crate) async fn start(url: &str) -> Self {
        let data = format!("/tmp/caudal-bench.{}", std::process::id());
        let arguments = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
        let mut child = Command::new(env!("CARGO_BIN_EXE_caudal"))
            .args(["--data-dir", &data, "--database-url", url])
            .args(arguments)
            .env("CAUDAL_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.contains("ledger API")).unwrap();
        let address: SocketAddr = line.rsplit("http://").next().unwrap().trim().parse().unwrap();
        let senders = open(address).await;
        Self { child, address, senders, data }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends transfers from every client, each as soon as the one before is answered.
    pub(crate) async fn run(&self, spread: Spread, time: Duration) -> Figures {
        let mut clients = JoinSet::new();
        let start = Instant::now();
        for client in 0..CLIENTS {
            let (address, senders) = (self.address, self.senders.clone());
            clients.spawn(async move {
                let mut connection = Client::connect(address).await.unwrap();
                let (mut took, mut failed) = (Vec::new(), 0);
                let mut turn = u64::try_from(client).unwrap();
                while start.elapsed() < time {
                    turn = turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let sender = &senders[pick(spread, senders.len(), turn >> 11)];
                    let headers = format!("{}idempotency-key: {}\r\n", sender.authorization, Uuid::new_v4());
                    let sent = Instant::now();
                    let path = "/api/ledger/transactions";
                    let (status, answer) = connection.send("POST", path, &headers, &sender.body).await.unwrap();
                    if status == 200 && answer.contains("\"status\":\"completed\"") {
                        took.push(sent.elapsed());
                    } else {
                        failed += 1;
                    }
                }
                (took, failed)
            });
        }
        let mut figures = Figures { took: Vec::new(), failed: 0, time };
        while let Some(done) = clients.join_next().await {
            let (took, failed) = done.unwrap();
            figures.took.extend(took);
            figures.failed += failed;
        }
        figures.time = start.elapsed();
        figures
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Also when a measurement fails half-way.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

/// Which account comes next; `random` has 53 bits.
fn pick(spread: Spread, count: usize, random: u64) -> usize {
    let share = random as f64 / (1_u64 << 53) as f64;
    match spread {
        Spread::Uniform => (share * count as f64) as usize,
        // The inverse of the harmonic sum, which grows like the logarithm.
        Spread::Zipf => ((count as f64).powf(share) as usize - 1).min(count - 1),
        Spread::Hot => 0,
    }
}

async fn open(address: SocketAddr) -> Vec<Sender> {
    let mut client = Client::connect(address).await.unwrap();
    let mut senders = Vec::with_capacity(ACCOUNTS);
    for user in 0..ACCOUNTS / ACCOUNTS_EACH {
        let token = post(&mut client, "/sandbox/token", "", &format!(r#"{{"user":"user-{user}"}}"#)).await;
        let authorization = format!("authorization: Bearer {}\r\n", token["token"].as_str().unwrap());
        let payee = r#"{"name":"Luis","accountNumber":"012180004643051249","bankName":"BBVA"}"#;
        let payee = post(&mut client, "/api/ledger/beneficiaries", &authorization, payee).await;
        for account in 0..ACCOUNTS_EACH {
            let number = user * ACCOUNTS_EACH + account;
            let account = format!(r#"{{"accountNumber":"6461801104{number:08}","accountType":"checking"}}"#);
            let account = post(&mut client, "/api/ledger/accounts", &authorization, &account).await;
            let body =
                format!(r#"{{"fromAccountId":{},"toBeneficiaryId":{},"amount":0.01}}"#, account["id"], payee["id"]);
            senders.push(Sender { authorization: authorization.clone(), body });
        }
    }
    senders
}

async fn post(client: &mut Client, path: &str, headers: &str, body: &str) -> Value {
    let (status, answer) = client.send("POST", path, headers, body).await.unwrap();
    assert!((200..300).contains(&status), "{path}: {status} {answer}");
    serde_json::from_str(&answer).unwrap()
}
