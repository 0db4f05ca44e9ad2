//! Open-loop load: clients send at a fixed pace, so that a slow response does not delay the next request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use caudal_model::risk::{self, Weights};
use serde_json::{Value, json};

use crate::process::{PATIENCE, Service};

/// More connections than the machine has processors.
const RISK_CLIENTS: usize = 6;
const NUDGE_CLIENTS: usize = 6;
const TRANSFER_CLIENTS: usize = 4;
/// Interval between the requests of one client.
const SCORE_EVERY: Duration = Duration::from_millis(25);
const TRANSFER_EVERY: Duration = Duration::from_millis(60);

/// Sleep of the thread that measures the machine's own latency.
const MACHINE_EVERY: Duration = Duration::from_millis(5);
/// The path of that thread's samples.
pub(crate) const MACHINE: &str = "the machine";

/// Distinct risk requests, sent in turn.
const INPUTS: usize = 64;

/// A completed request.
pub(crate) struct Sample {
    pub(crate) path: &'static str,
    pub(crate) due: Instant,
    /// Since it was due.
    pub(crate) took: Duration,
}

pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<Sample>>>,
    accounts: Vec<String>,
    machine: JoinHandle<Vec<Sample>>,
}

impl Load {
    /// Nudge requests name `screen`. A client panics at the first unexpected response.
    pub(crate) fn start(service: &Service, screen: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut clients = Vec::new();
        for client in 0..RISK_CLIENTS {
            let (url, stop) = (format!("{}/ai/risk", service.assist), Arc::clone(&stop));
            clients.push(thread::spawn(move || {
                pace("/ai/risk", &stop, SCORE_EVERY, |turn| risk_request(&url, turn * 7 + client))
            }));
        }
        for _ in 0..NUDGE_CLIENTS {
            let (url, stop) = (format!("{}/ai/nudge", service.assist), Arc::clone(&stop));
            clients.push(thread::spawn(move || {
                pace("/ai/nudge", &stop, SCORE_EVERY, |turn| nudge_request(&url, screen, turn))
            }));
        }
        let payee = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
        let payee = service.must("POST", "/api/ledger/beneficiaries", Some(payee))["id"].as_str().unwrap().to_owned();
        let mut accounts = Vec::new();
        for client in 0..TRANSFER_CLIENTS {
            let account = json!({"accountNumber": format!("64618011040000{client:04}"), "accountType": "checking"});
            let account =
                service.must("POST", "/api/ledger/accounts", Some(account))["id"].as_str().unwrap().to_owned();
            accounts.push(account.clone());
            let (url, token) = (format!("{}/api/ledger/transactions", service.ledger), service.token.clone());
            let (payee, stop) = (payee.clone(), Arc::clone(&stop));
            clients.push(thread::spawn(move || {
                let body = json!({"fromAccountId": account, "toBeneficiaryId": payee, "amount": 0.01}).to_string();
                pace("/transactions", &stop, TRANSFER_EVERY, |_| {
                    let authorization = format!("Bearer {token}");
                    Request {
                        url: url.clone(),
                        body: body.clone(),
                        authorization,
                        check: Box::new(|answer| {
                            assert_eq!(answer["status"], "completed", "{answer}");
                        }),
                    }
                })
            }));
        }
        let machine = thread::spawn({
            let stop = Arc::clone(&stop);
            move || watch_machine(&stop)
        });
        Self { stop, clients, accounts, machine }
    }

    /// Stops the clients. Returns all samples, and how many transfers each account made.
    pub(crate) fn stop(self) -> (Vec<Sample>, Vec<(String, usize)>) {
        self.stop.store(true, Relaxed);
        let samples: Vec<_> = self.clients.into_iter().map(|it| it.join().unwrap()).collect();
        let transfers = samples[RISK_CLIENTS + NUDGE_CLIENTS..].iter().map(Vec::len);
        let transfers = self.accounts.into_iter().zip(transfers).collect();
        let mut samples: Vec<_> = samples.into_iter().flatten().collect();
        samples.extend(self.machine.join().unwrap());
        (samples, transfers)
    }
}

/// Measures how late a sleeping thread wakes up: latency that is not the service's.
fn watch_machine(stop: &AtomicBool) -> Vec<Sample> {
    let mut samples = Vec::new();
    while !stop.load(Relaxed) {
        let due = Instant::now() + MACHINE_EVERY;
        thread::sleep(MACHINE_EVERY);
        samples.push(Sample { path: MACHINE, due, took: due.elapsed() });
    }
    samples
}

struct Request {
    url: String,
    body: String,
    authorization: String,
    check: Box<dyn Fn(&Value)>,
}

/// Sends a request whenever one is due, over one connection.
fn pace(path: &'static str, stop: &AtomicBool, every: Duration, request: impl Fn(usize) -> Request) -> Vec<Sample> {
    let config = ureq::config::Config::builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build();
    let agent = ureq::Agent::new_with_config(config);
    let mut samples = Vec::new();
    let mut due = Instant::now();
    while !stop.load(Relaxed) {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let Request { url, body, authorization, check } = request(samples.len());
        let sent = agent.post(&url).header("content-type", "application/json");
        let mut response = sent.header("authorization", authorization).send(body).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        assert_eq!(response.status().as_u16(), 200, "{url}: {text}");
        samples.push(Sample { path, due, took: due.elapsed() });
        check(&serde_json::from_str(&text).unwrap());
        due += every;
    }
    samples
}

/// One of [`INPUTS`] transfers.
fn facts(input: usize) -> (Value, risk::Request) {
    let number = |part: usize| u32::try_from(input / part % 8).unwrap();
    let facts = risk::Request {
        amount: 10.5 * f64::from(1 + number(1)) * f64::from(1 + number(8)),
        is_new_beneficiary: input.is_multiple_of(2),
        hour_of_day: u8::try_from(input % 24).unwrap(),
        num_past_transactions: 3 + number(4),
        avg_transaction_amount: 100.25,
        max_transaction_amount: 900.0,
        num_transactions_to_beneficiary: number(2),
        is_new_device: input.is_multiple_of(5),
        geolocation_changed: input.is_multiple_of(7),
        beneficiary_saved_minutes: None,
    };
    let body = json!({
        "amount": facts.amount, "is_new_beneficiary": facts.is_new_beneficiary, "hour_of_day": facts.hour_of_day,
        "num_past_transactions": facts.num_past_transactions, "avg_transaction_amount": facts.avg_transaction_amount,
        "max_transaction_amount": facts.max_transaction_amount,
        "num_transactions_to_beneficiary": facts.num_transactions_to_beneficiary,
        "is_new_device": facts.is_new_device, "geolocation_changed": facts.geolocation_changed,
    });
    (body, facts)
}

/// The score must be, bit for bit, that of the version that the response names.
fn risk_request(url: &str, turn: usize) -> Request {
    let (body, facts) = facts(turn % INPUTS);
    let check = move |answer: &Value| {
        let version = answer["model_version"].as_str().unwrap();
        let major: u32 = version.strip_prefix("risk-").unwrap().split('.').next().unwrap().parse().unwrap();
        // See `patched`.
        let weights = if major % 2 == 1 { &RISK_1 } else { &RISK_2 };
        let expected = risk::assess(weights, &facts).unwrap().score;
        let score = answer["result"]["risk_score"].as_f64().unwrap();
        assert_eq!(score.to_bits(), expected.to_bits(), "{version} gives {expected}: {answer}");
    };
    Request { url: url.to_owned(), body: body.to_string(), authorization: String::new(), check: Box::new(check) }
}

static RISK_1: Weights<'static> = Weights::built_in(include_bytes!("../../components/risk/models/risk-1/weights.bin"));
static RISK_2: Weights<'static> = Weights::built_in(include_bytes!("../../components/risk/models/risk-2/weights.bin"));

fn nudge_request(url: &str, screen: &str, turn: usize) -> Request {
    let body = json!({
        "screen": screen, "num_validation_errors": turn % 5, "time_on_screen_seconds": turn % 90,
        "num_back_navigations": turn % 3, "steps_total": 4, "current_step": 2,
    });
    let check = |answer: &Value| assert!(answer["result"]["difficulty_score"].is_f64(), "{answer}");
    Request { url: url.to_owned(), body: body.to_string(), authorization: String::new(), check: Box::new(check) }
}
