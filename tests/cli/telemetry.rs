//! What a collector learns of a host.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;

use crate::collector::{Collector, attribute};
use crate::process::{DataDir, Service};

const SERVE: [&str; 6] = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Sends a request as part of a trace that its caller samples or not.
fn post(service: &Service, url: &str, body: &serde_json::Value, sampled: bool) {
    let response = ureq::post(url)
        .header("authorization", format!("Bearer {}", service.token))
        .header("traceparent", format!("00-{TRACE}-{CALLER}-0{}", u8::from(sampled)))
        .send_json(body);
    assert!(response.unwrap().status().is_success());
}

fn transfer(service: &Service) {
    let id = |value: serde_json::Value| value["id"].as_str().unwrap().to_owned();
    let from = id(service.must("POST", "/api/ledger/accounts", Some(json!({"accountType": "checking"}))));
    let payee = json!({"name": "Luz Prieto", "accountNumber": "012180004643059953", "bankName": "BBVA"});
    let to = id(service.must("POST", "/api/ledger/beneficiaries", Some(payee)));
    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 12.5});
    post(service, &format!("{}/api/ledger/transactions", service.ledger), &order, true);
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

#[test]
fn a_collector_gets_the_traces_of_requests() {
    let data = DataDir::new();
    let collector = Collector::start();
    let mut command = data.command(&SERVE);
    command.env("CAUDAL_OTLP_URL", &collector.url).env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test");
    let service = Service::start_command(command);
    transfer(&service);
    service.must("GET", "/api/ledger/accounts", None);
    let payment = json!({
        "amount": 10, "is_new_beneficiary": false, "hour_of_day": 12, "num_past_transactions": 9,
        "avg_transaction_amount": 10, "max_transaction_amount": 20, "num_transactions_to_beneficiary": 1,
        "is_new_device": false, "geolocation_changed": false,
    });
    service.must("POST", "/ai/risk", Some(payment));
    assert_eq!(service.send("POST", "/ai/nudge", "{", "").0, 400);
    let mut connection = TcpStream::connect(service.ledger.trim_start_matches("http://")).unwrap();
    connection
        .write_all(b"INVENTED /api/ledger/accounts HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    assert!(connection.read_to_string(&mut String::new()).is_ok());
    assert_eq!(service.call("GET", "/api/ledger/nothing/of-this-path", None).0, 404);
    service.stop();

    let spans = collector.spans();
    let [order] = named(&spans, "POST /api/ledger/transactions")[..] else { panic!("{spans:#?}") };
    assert_ne!(hex::encode(&order.trace_id), TRACE, "customers choose no trace");
    assert_eq!(order.kind(), SpanKind::Server);
    assert_eq!(attribute(&order.attributes, "http.response.status_code").as_deref(), Some("200"));
    assert_eq!(attribute(&order.attributes, "http.route").as_deref(), Some("/api/ledger/transactions"));
    assert!(attribute(&order.attributes, "request_id").is_some());
    let read = named(&spans, "GET /api/ledger/accounts")[0];
    assert!(named(&spans, "connection").iter().any(|it| it.parent_span_id == read.span_id));

    // The batch is another trace, with a link to the command that waited for it.
    let command = named(&spans, "command").into_iter().find(|it| it.parent_span_id == order.span_id).unwrap();
    let batches = named(&spans, "batch");
    let batch = batches.into_iter().find(|it| it.links.iter().any(|link| link.span_id == command.span_id)).unwrap();
    assert_ne!(batch.trace_id, order.trace_id);
    assert!(command.end_time_unix_nano >= batch.start_time_unix_nano);
    for step in ["lookup", "commit"] {
        assert!(named(&spans, step).iter().any(|it| it.parent_span_id == batch.span_id), "{step}");
    }

    let [risk] = named(&spans, "POST /ai/risk")[..] else { panic!("{spans:#?}") };
    let score = named(&spans, "score").into_iter().find(|it| it.parent_span_id == risk.span_id).unwrap();
    assert!(attribute(&score.attributes, "version").unwrap().starts_with("risk-"));
    // Also of a body that nobody could read. What a client made up is not repeated.
    assert_eq!(named(&spans, "POST /ai/nudge").len(), 1, "{spans:#?}");
    assert_eq!(named(&spans, "_OTHER /api/ledger/accounts").len(), 1, "{spans:#?}");
    assert_eq!(named(&spans, "GET").len(), 1, "{spans:#?}");

    let process = collector.process();
    assert_eq!(attribute(&process, "deployment.environment.name").as_deref(), Some("test"));
    assert_eq!(attribute(&process, "service.version").as_deref(), Some(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_caller_decides_what_is_traced_and_a_customer_does_not() {
    let data = DataDir::new();
    let collector = Collector::start();
    let mut command = data.command(&SERVE);
    command.env("CAUDAL_OTLP_URL", &collector.url).env("CAUDAL_OTLP_TRACED", "0");
    let service = Service::start_command(command);
    transfer(&service);
    let nudge = json!({
        "screen": "home", "num_validation_errors": 0, "time_on_screen_seconds": 0, "num_back_navigations": 0,
        "steps_total": 1, "current_step": 1,
    });
    for sampled in [false, true] {
        post(&service, &format!("{}/ai/nudge", service.assist), &nudge, sampled);
    }
    service.stop();
    let spans = collector.spans();
    assert_eq!(named(&spans, "POST /ai/nudge").len(), 1, "{spans:#?}");
    assert!(spans.iter().all(|span| hex::encode(&span.trace_id) == TRACE), "{spans:#?}");
    assert_eq!(hex::encode(&named(&spans, "POST /ai/nudge")[0].parent_span_id), CALLER);
}

#[test]
fn a_collector_that_is_away_is_one_line_in_the_log() {
    let data = DataDir::new();
    // The port is free again at once.
    let url = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let log = data.0.join("log");
    let mut command = data.command(&SERVE);
    command.env("CAUDAL_OTLP_URL", &url).env("CAUDAL_LOG", "info").stderr(File::create(&log).unwrap());
    let service = Service::start_command(command);
    transfer(&service);
    let stopping = Instant::now();
    service.stop();
    assert!(stopping.elapsed() < Duration::from_secs(15), "a stop waits for what telemetry holds");
    let logged = fs::read_to_string(&log).unwrap();
    assert_eq!(logged.matches("the collector at --otlp-url is not accepting data").count(), 1, "{logged}");
}
