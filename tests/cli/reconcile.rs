//! `caudal reconcile`, and the cases that it opens.

use caudal::clock::Clock;
use caudal::rail::operating_date;
use serde_json::{Value, json};

use crate::ledger::{account_and_payee, send};
use crate::process::{DataDir, Service, code, eventually, text};

/// With a rail that settles at once, and forgets when the host stops.
fn start(data: &DataDir) -> Service {
    let listeners = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    let rail =
        ["--rail", "simulated", "--simulated-delay", "0s", "--simulated-rejected", "0", "--simulated-returned", "0"];
    Service::start_command(data.command(&[&listeners[..], &rail].concat()))
}

#[test]
fn a_day_is_compared_and_printed_for_people_and_programs() {
    let data = DataDir::new();
    let service = start(&data);
    let (account, payee) = account_and_payee(&service);
    let date = operating_date(Clock::system().now()).to_string();
    assert_eq!(send(&service, &account, &payee, "1.00"), 200);
    eventually("it settles", || service.must("GET", "/api/ledger/transactions", None)[0]["status"] == "completed");
    let alike = data.ask(&service, &["reconcile", "--date", &date]);
    code(&alike, 0);
    assert!(
        text(&alike.stdout).contains(": 1 matched, 0 missing here, 0 missing at the rail"),
        "{}",
        text(&alike.stdout)
    );
    service.stop();

    let service = start(&data);
    let csv = data.ask(&service, &["reconcile", "--date", &date, "--format", "csv"]);
    code(&csv, 1);
    let lines = text(&csv.stdout);
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("direction,finding,remedy,tracking_key,"), "{lines:?}");
    assert!(
        lines[1].starts_with("sent,missing-there,decision,CAUD") && lines[1].contains(",1.00,,completed,"),
        "{lines:?}"
    );
    let last = data.ask(&service, &["reconcile", "--date", &date, "--last", "--format", "json"]);
    let last: Value = serde_json::from_str(&text(&last.stdout)).unwrap();
    assert_eq!((&last["missingThere"], &last["differences"][0]["finding"]), (&json!(1), &json!("missing-there")));
    let cases = data.ask(&service, &["payments", "cases", "--json"]);
    let cases: Value = serde_json::from_str(&text(&cases.stdout)).unwrap();
    let id = cases["cases"][0]["id"].as_str().unwrap();
    let booked = data.ask(&service, &["payments", "book", "--case", id, "--reason", "a test"]);
    code(&booked, 1);
    assert!(text(&booked.stderr).contains("The payment cannot be booked"), "{}", text(&booked.stderr));
    code(&data.ask(&service, &["payments", "close", "--case", id, "--reason", "the simulated rail forgets"]), 0);
    assert_eq!(text(&data.ask(&service, &["payments", "cases"]).stdout), "no case is open");
    let wrong = data.ask(&service, &["reconcile", "--date", "yesterday"]);
    code(&wrong, 1);
    assert!(text(&wrong.stderr).contains("operatingDate"), "{}", text(&wrong.stderr));
    service.stop();
    assert!(data.run(&["verify"]).status.success());
}
