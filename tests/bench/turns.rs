//! One customer's payment while others have 10,000 pending at a stand-in for STP, and what slow answers cost.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Client;
use crate::database::{Database, Server};
use crate::figures::median;
use crate::host::Host;
use crate::report::{Target, result, say};
use crate::senders::PATH;
use crate::stub::{Act, Stub};

const PENDING: usize = 10_000;

/// Payments of the customer who waits, each until it has settled; the median counts.
const PAYMENTS: usize = 11;

/// Of a request to the stand-in, and of the slow ones, one in a hundred.
const USUAL: Duration = Duration::from_millis(300);
const SLOW: Duration = Duration::from_secs(45);

/// How long settled payments are counted: longer than slow answers occupy anything.
const COUNTED: Duration = Duration::from_secs(60);

pub(crate) async fn run(server: &Server) {
    let is_slow: &'static AtomicBool = Box::leak(Box::default());
    let stp = stand_in(is_slow).await;
    for (name, customers, most) in [("one customer, with the bound raised", 1, "20000"), ("five customers", 5, "2000")]
    {
        let database = server.database(&format!("turns{customers}")).await;
        let host = start(&database, &stp.url, most);
        let waiting = Customer::of(&host, 0).await;
        let calm = waiting.settling(&host).await;
        for customer in 1..=customers {
            Customer::of(&host, customer).await.fill(&host, PENDING / customers).await;
        }
        let before = pending(&database).await;
        let crowded = waiting.settling(&host).await;
        say!(
            "{name}: {before} pending before and {} after; settled after {calm:.2} s when calm and {crowded:.2} s beside them",
            pending(&database).await
        );
        result(&format!("beside {name} / calm"), crowded / calm, Target::AtMost(1.5, ""));
        if customers == 1 {
            let usual = settled(&database).await;
            is_slow.store(true, Relaxed);
            tokio::time::sleep(SLOW).await;
            let slow = settled(&database).await;
            is_slow.store(false, Relaxed);
            say!(
                "settled a second: {usual:.1}, and {slow:.1} while one answer in a hundred takes {} s",
                SLOW.as_secs()
            );
            result("with slow answers / without", slow / usual, Target::AtLeast(0.8));
        }
        drop(host);
        server.drop(database).await;
    }
}

/// Takes each order, and has settled it when it is asked.
async fn stand_in(is_slow: &'static AtomicBool) -> Stub {
    let (orders, requests) = (Mutex::new(BTreeSet::new()), AtomicUsize::new(0));
    Stub::start(move |request| {
        let key = request.body["claveRastreo"].as_str().unwrap().to_owned();
        let is_late = is_slow.load(Relaxed) && requests.fetch_add(1, Relaxed).is_multiple_of(100);
        let time = if is_late { SLOW } else { USUAL };
        let mut orders = orders.lock().unwrap();
        if request.target.ends_with("registra") {
            let id = if orders.insert(key) { 7 } else { -1 };
            return Act::Late(time, 200, json!({"resultado": {"id": id}}).to_string());
        }
        let answer = json!({"claveRastreo": key, "estado": "LQ", "monto": 0.01, "causaDevolucion": null});
        match orders.contains(&key) {
            true => Act::Late(time, 200, json!({"estado": 0, "mensaje": "", "respuesta": answer}).to_string()),
            false => Act::Late(time, 400, json!({"estado": 6, "mensaje": ""}).to_string()),
        }
    })
    .await
}

fn start(database: &Database, url: &str, most: &str) -> Host {
    let key = format!("/tmp/caudal-bench.{}.pem", std::process::id());
    let made = std::process::Command::new("openssl")
        .args(["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", &key])
        .status();
    assert!(made.unwrap().success());
    let bank = ["--stp-company", "BANCO", "--stp-account", "646180110400000007", "--stp-key-file", &key];
    let arguments = [&["--rail", "stp", "--stp-url", url, "--pending-payments", most][..], &bank].concat();
    let host = Host::start_with(database, &arguments);
    std::fs::remove_file(key).unwrap();
    host
}

struct Customer {
    authorization: String,
    transfer: serde_json::Value,
}

impl Customer {
    async fn of(host: &Host, number: usize) -> Self {
        let mut client = Client::connect(host.address()).await.unwrap();
        let authorization = host.authorization(&format!("customer-{number}")).await;
        let account = json!({"accountNumber": format!("6461801104{number:08}"), "accountType": "checking"});
        let account = client.create("/api/ledger/accounts", &authorization, &account).await;
        let payee = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
        let payee = client.create("/api/ledger/beneficiaries", &authorization, &payee).await;
        let transfer = json!({"fromAccountId": account["id"], "toBeneficiaryId": payee["id"], "amount": 0.01});
        Self { authorization, transfer }
    }

    /// Makes so many payments, by bulks of 1,000.
    async fn fill(&self, host: &Host, count: usize) {
        let mut client = Client::connect(host.address()).await.unwrap();
        for bulk in 0..count / 1_000 {
            let one = |number: usize| {
                let mut transfer = self.transfer.clone();
                transfer["idempotencyKey"] = json!(format!("{bulk}-{number}"));
                transfer
            };
            let body = json!({"transfers": (0..1_000).map(one).collect::<Vec<_>>()});
            let answer = client.create(&format!("{PATH}/bulk"), &self.authorization, &body).await;
            let made = answer["results"].as_array().unwrap().iter().filter(|it| it["status"] == 200).count();
            assert_eq!(made, 1_000);
        }
    }

    /// Median of the seconds until a payment has settled.
    async fn settling(&self, host: &Host) -> f64 {
        let mut client = Client::connect(host.address()).await.unwrap();
        let mut took = Vec::new();
        for _ in 0..PAYMENTS {
            let begun = Instant::now();
            let made = client.create(PATH, &self.authorization, &self.transfer).await;
            let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
            loop {
                tokio::time::sleep(Duration::from_millis(20)).await;
                let (_, shown) = client.send("GET", &path, &self.authorization, "").await.unwrap();
                if shown.contains("completed") {
                    break;
                }
                assert!(begun.elapsed() < Duration::from_secs(600), "{shown}");
            }
            took.push(begun.elapsed().as_secs_f64());
        }
        median(took)
    }
}

async fn pending(database: &Database) -> i64 {
    sqlx::query_scalar("select count(*) from rail_payment").fetch_one(&mut database.connect().await).await.unwrap()
}

/// Payments that settle in a second, while there are more than enough.
async fn settled(database: &Database) -> f64 {
    let before = pending(database).await;
    tokio::time::sleep(COUNTED).await;
    let after = pending(database).await;
    assert!(after > 0);
    (before - after) as f64 / COUNTED.as_secs_f64()
}
