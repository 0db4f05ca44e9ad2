//! Twice what a host sustains: it serves as much as before. Transfers beyond that are refused at once, scores wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::flood::{Target, closed, open, stay_on};
use crate::process::{DataDir, Service};
use crate::{is_long, seconds};

/// Users, so that no limit on one of them is what refuses.
const USERS: usize = 50;

/// Interval of requests to `/livez`.
const ALIVE_EVERY: Duration = Duration::from_millis(20);

/// Sends what the host sustains, in a soak, and twice that.
fn flood(name: &str, service: &Service, target: &Target) {
    stay_on(false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let time = seconds(2) / 3;
    let mut sustained = runtime.block_on(closed(target, time));
    println!("{name}, closed  {}", sustained.line());
    let rate = sustained.rate();
    let loads: &[f64] = if is_long() { &[1.0, 2.0] } else { &[2.0] };
    for &times in loads {
        let (mut answers, alive) = while_asking_livez(service, || runtime.block_on(open(target, rate * times, time)));
        println!("{name}, {times} times  {}  /livez at most {:.2} ms", answers.line(), alive.as_secs_f64() * 1e3);
        assert!(!answers.served.is_empty());
        if is_long() && times > 1.5 {
            assert!(answers.rate() > rate / 2.0, "{} of {rate}", answers.rate());
        }
    }
    runtime.shutdown_background();
}

/// Also returns how long the slowest answer of `/livez` took.
fn while_asking_livez<T>(service: &Service, work: impl FnOnce() -> T) -> (T, Duration) {
    let (done, url) = (Arc::new(AtomicBool::new(false)), format!("{}/livez", service.ledger));
    let asking = thread::spawn({
        let done = Arc::clone(&done);
        move || {
            let agent = ureq::Agent::new_with_defaults();
            let mut slowest = Duration::ZERO;
            while !done.load(Relaxed) {
                let sent = Instant::now();
                assert_eq!(agent.get(&url).call().unwrap().status().as_u16(), 200);
                slowest = slowest.max(sent.elapsed());
                thread::sleep(ALIVE_EVERY);
            }
            slowest
        }
    });
    let result = work();
    done.store(true, Relaxed);
    (result, asking.join().unwrap())
}

pub(crate) fn address(url: &str) -> std::net::SocketAddr {
    url.rsplit("http://").next().unwrap().parse().unwrap()
}

#[test]
fn scores_beyond_what_the_host_sustains_are_served_late() {
    stay_on(true);
    let data = DataDir::new();
    let service = Service::start(&data);
    let body = json!({
        "amount": 1500.5, "is_new_beneficiary": true, "hour_of_day": 12, "num_past_transactions": 3,
        "avg_transaction_amount": 100.25, "max_transaction_amount": 900.0, "num_transactions_to_beneficiary": 0,
        "is_new_device": false, "geolocation_changed": false,
    })
    .to_string();
    let requests = Arc::new(move |_| (String::new(), body.clone()));
    flood("scores", &service, &Target { address: address(&service.assist), path: "/ai/risk", requests });
    service.stop();
}

#[test]
fn transfers_beyond_what_the_host_sustains_are_refused() {
    stay_on(true);
    let data = DataDir::new();
    let service = Service::start(&data);
    let senders: Vec<_> = (0..USERS).map(|number| sender(&service, number)).collect();
    let requests = Arc::new(move |turn: usize| senders[turn % USERS].clone());
    let path = "/api/ledger/transactions";
    flood("transfers", &service, &Target { address: address(&service.ledger), path, requests });
    assert!(data.ask(&service, &["verify"]).status.success());
    service.stop();
}

/// A user's headers and transfer.
fn sender(service: &Service, number: usize) -> (String, String) {
    let (_, token) = service.send("POST", "/sandbox/token", &json!({"user": format!("user-{number}")}).to_string(), "");
    let token = serde_json::from_str::<Value>(&token).unwrap()["token"].as_str().unwrap().to_owned();
    let create = |path: &str, body: Value| {
        let (status, text) = service.send("POST", path, &body.to_string(), &token);
        assert_eq!(status, 201, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()["id"].clone()
    };
    let payee = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
    let payee = create("/api/ledger/beneficiaries", payee);
    let account = create("/api/ledger/accounts", json!({"accountType": "checking"}));
    let body = json!({"fromAccountId": account, "toBeneficiaryId": payee, "amount": 0.01});
    (format!("authorization: Bearer {token}\r\n"), body.to_string())
}
