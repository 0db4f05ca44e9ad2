//! Start, use, stop, start again; and the ways in which a host crashes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::process::{DataDir, Service, eventually, is_running, text};

/// Opens an account and saves a payee.
fn account_and_payee(service: &Service) -> (String, String) {
    let account = json!({"accountNumber": "646180110400000007", "accountType": "checking"});
    let payee = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
    let account = service.must("POST", "/api/ledger/accounts", Some(account));
    let payee = service.must("POST", "/api/ledger/beneficiaries", Some(payee));
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    (id(&account), id(&payee))
}

#[test]
fn a_clients_flow_survives_a_restart() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let (account, payee) = account_and_payee(&service);
    let context = format!("/api/ledger/risk-context?fromAccountId={account}&toBeneficiaryId={payee}&amount=1500.50");
    let context = service.must("GET", &context, None);
    let risk = service.must("POST", "/ai/risk", Some(context["request"].clone()));
    assert_eq!(risk, context["assessment"], "the same facts score the same");
    let order = json!({"fromAccountId": account, "toBeneficiaryId": payee, "amount": 1500.5});
    let transfer = service.must("POST", "/api/ledger/transactions", Some(order));
    assert_eq!(transfer["status"], "completed");
    service.stop();
    assert_eq!(data.postgres(), None, "the private server stops with the host");

    let service = Service::start(&data);
    assert_eq!(service.must("GET", "/api/ledger/accounts", None)[0]["balance"], 8499.5);
    assert_eq!(service.must("GET", "/api/ledger/transactions", None), json!([transfer]));
    service.stop();
}

#[test]
fn a_killed_host_leaves_no_postgres_beside_the_next_start() {
    let data = DataDir::new();
    let mut service = Service::start(&data);
    account_and_payee(&service);
    let first = data.postgres().unwrap();
    service.signal(Signal::SIGKILL);
    assert_eq!(service.wait(), None);
    // At once, while the old server may still be shutting down.
    let mut service = Service::start(&data);
    let second = data.postgres().unwrap();
    assert_ne!(first, second);
    assert!(!is_running(first), "the first server still runs");
    assert_eq!(service.must("GET", "/api/ledger/accounts", None)[0]["balance"], 10_000.0);
    service.signal(Signal::SIGKILL);
    service.wait();
    eventually("the watchdog stops the server", || data.postgres().is_none());
}

#[test]
fn a_host_whose_private_server_dies_exits_and_says_why() {
    let data = DataDir::new();
    let mut service = Service::start(&data);
    kill(Pid::from_raw(data.postgres().unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(service.wait(), Some(1));
    let service = Service::start(&data);
    service.stop();
}

#[test]
fn the_private_server_is_reached_by_its_socket_only() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let pid = data.postgres().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let uids = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
    assert!(!uids.split_whitespace().skip(1).any(|uid| uid == "0"), "Postgres runs as root: {uids}");
    let options = std::fs::read_to_string(data.path().join("postgres/data/postmaster.pid")).unwrap();
    assert_eq!(options.lines().nth(5), Some(""), "it listens on TCP: {options}");
    for folder in ["postgres", "postgres/run", "postgres/data"] {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(data.path().join(folder)).unwrap().permissions(),
        );
        assert_eq!(mode & 0o077, 0, "{folder} is open to others");
    }
    service.stop();
}

#[test]
fn a_stop_lets_requests_finish_and_keeps_queued_events() {
    let data = DataDir::new();
    let mut service = Service::start(&data);
    service.must("PUT", "/api/analytics/consent", Some(json!({"granted": true})));

    // A request whose body is still arriving when the signal comes.
    let body = json!({"accountNumber": "1", "accountType": "checking"}).to_string();
    let mut slow = TcpStream::connect(service.ledger.trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST /api/ledger/accounts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: \
         application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        service.token,
        body.len(),
        &body[..10]
    );
    slow.write_all(head.as_bytes()).unwrap();
    let event = json!({"screen": "home", "eventType": "screen_view"});
    service.must("POST", "/api/analytics/events", Some(event));
    service.signal(Signal::SIGTERM);
    std::thread::sleep(std::time::Duration::from_millis(300));
    slow.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert_eq!(service.wait(), Some(0));

    // Stored before the stop or kept for the next start; present either way.
    let service = Service::start(&data);
    let count = "select (select count(*) from event) || '/' || (select count(*) from event_queue)";
    eventually("the event is stored", || {
        let psql = data.run(&["postgres", "--", "sh", "-c", &format!("psql -At \"$DATABASE_URL\" -c \"{count}\"")]);
        text(&psql.stdout) == "1/0"
    });
    assert_eq!(service.must("GET", "/api/ledger/accounts", None).as_array().unwrap().len(), 1);
    service.stop();
}
