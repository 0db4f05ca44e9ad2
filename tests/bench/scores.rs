//! Scores over HTTP, compared with the same models called natively by bare handlers (`native.rs`).
//!
//! wrk sends to each side in turn over the same number of connections. Both sides must give the same answers.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::Settings;
use crate::client::Client;
use crate::database::Server;
use crate::host::Host;
use crate::load::{CONNECTIONS, Request, Side};
use crate::report::{self, Target, say};

/// Turns of each side; the median counts.
const TURNS: usize = 5;

/// A native handler, killed when dropped.
struct Native {
    child: Child,
    address: SocketAddr,
}

impl Native {
    fn start() -> Self {
        let program = std::env::current_exe().unwrap().with_file_name("caudal-bench-native");
        let mut child = Command::new(program).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, address: line.trim().parse().unwrap() }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let database = server.database("scores").await;
    let (host, native) = (Host::start(&database), Native::start());
    let seconds = settings.time.as_secs().div_ceil(3);
    say!("wrk, {CONNECTIONS} connections, {TURNS} turns of {seconds} s for each side");
    say!("  {} (every request in a fresh instance)", Host::command_line());
    say!("{}", Side::HEAD);
    for (path, body) in requests() {
        let mut ours = Side::new("caudal", host.pid(), host.assist());
        let mut theirs = Side::new("native", native.child.id(), native.address);
        let [answer, expected] = [answer(host.assist(), path, &body).await, answer(native.address, path, &body).await];
        assert_eq!(answer, expected, "{path}: both sides score alike");
        let request = Request { method: "POST", path, body: body.to_string(), authorizations: Vec::new() };
        for _ in 0..TURNS {
            ours.turn(&request, seconds);
            theirs.turn(&request, seconds);
        }
        say!("{}\n{}", ours.line(path), theirs.line(path));
        report::result(&format!("{path} over HTTP / native"), ours.rate() / theirs.rate(), Target::AtLeast(0.75));
    }
    host.stop();
    server.drop(database).await;
}

/// What a side answers, apart from the version's digest.
async fn answer(address: SocketAddr, path: &str, body: &Value) -> Value {
    let answer = Client::connect(address).await.unwrap().create(path, "", body).await;
    let mut answer = answer;
    let version = answer["model_version"].as_str().unwrap().split('+').next().unwrap().to_owned();
    answer["model_version"] = version.into();
    answer
}

pub(crate) fn requests() -> [(&'static str, Value); 3] {
    [
        (
            "/ai/risk",
            json!({
                "user_id": "ana", "amount": 1500.0, "is_new_beneficiary": true, "hour_of_day": 14,
                "num_past_transactions": 25, "avg_transaction_amount": 800.5, "max_transaction_amount": 4000.0,
                "num_transactions_to_beneficiary": 0, "is_new_device": false, "geolocation_changed": false,
            }),
        ),
        (
            "/ai/nudge",
            json!({
                "user_id": "ana", "screen": "transfer_amount", "num_validation_errors": 2,
                "time_on_screen_seconds": 75, "num_back_navigations": 1, "steps_total": 4, "current_step": 2,
            }),
        ),
        (
            "/ai/accessibility",
            json!({
                "user_id": "ana", "can_read_small_text": false, "uses_screen_reader": false,
                "feels_confident_with_apps": "medium", "age_range": "51_60", "avg_time_per_screen_seconds": 60,
                "total_validation_errors": 2, "requested_help_count": 1,
            }),
        ),
    ]
}
