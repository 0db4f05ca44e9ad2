//! Webhooks: signed, in order for each account, sent again until they are accepted; and who may manage them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use caudal::sinks::{REPLY_BYTES_MAX, SINKS_MAX, TIME_MAX, UNDELIVERED_MAX};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::PgPool;

use crate::feed::all;
use crate::harness::{Answer, Client, TestApp, refused};
use crate::stp::wait;
use crate::stub::{Act, Request, Stub};

const SINKS: &str = "/admin/sinks";

/// A webhook that answers with a status, which a test may change, and an account that it refuses.
struct Sink {
    stub: Stub,
    accepted: Arc<Mutex<Vec<Value>>>,
    status: Arc<AtomicU16>,
    refuses: Arc<Mutex<String>>,
}

impl Sink {
    async fn start() -> Self {
        let (status, refuses) = (Arc::new(AtomicU16::new(200)), Arc::new(Mutex::new("nothing".to_owned())));
        let accepted = Arc::new(Mutex::new(Vec::new()));
        let (answers, not, takes) = (status.clone(), refuses.clone(), accepted.clone());
        let stub = Stub::start(move |request| {
            let events = request.body.as_array().unwrap();
            let is_refused = events.iter().any(|event| event["subject"] == *not.lock().unwrap());
            let status = if is_refused { 503 } else { answers.load(Ordering::SeqCst) };
            if status == 200 {
                takes.lock().unwrap().extend(events.iter().cloned());
            }
            Act::Reply(status, String::new())
        });
        Self { stub: stub.await, accepted, status, refuses }
    }

    /// What it accepted.
    fn bodies(&self) -> Vec<Value> {
        self.accepted.lock().unwrap().clone()
    }

    /// The amounts of an account's transfers, as they arrived for the first time.
    fn amounts(&self, account: &str) -> Vec<f64> {
        let (mut ids, mut amounts) = (BTreeSet::new(), Vec::new());
        for event in self.bodies().iter().filter(|event| event["subject"] == *account) {
            if ids.insert(event["id"].as_str().unwrap().to_owned()) {
                amounts.push(event["data"]["amount"].as_f64().unwrap());
            }
        }
        amounts
    }
}

async fn add(ops: &Client, url: &str, from: &str) -> Value {
    let body = json!({"kind": "webhook", "url": url, "types": ["mx.caudal.transfer"], "from": from});
    ops.post(SINKS, body).await.assert_status(201).json()
}

async fn order(ops: &Client, id: &str, body: Value) -> Answer {
    ops.post(&format!("{SINKS}/{id}"), body).await
}

async fn undelivered(ops: &Client) -> i64 {
    ops.get(SINKS).await.assert_status(200).json()["sinks"][0]["undelivered"].as_i64().unwrap()
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_webhook_gets_signed_events_once_and_in_order(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let ops = app.operator(Some("events:admin events:read"));
    let sink = Sink::start().await;
    let added = add(&ops, &sink.stub.url, "").await;
    for amount in 1..=20 {
        ana.transfer(&from, &to, &amount.to_string()).await.assert_status(200);
    }
    wait("everything arrives", async || sink.bodies().len() == 21).await;
    let amounts: Vec<_> = [10_000.0].into_iter().chain((1..=20).map(f64::from)).collect();
    assert_eq!(sink.amounts(&from), amounts);
    assert_eq!(sink.bodies(), all(&ops, "&types=mx.caudal.transfer", String::new()).await.0);
    let secret = STANDARD.decode(added["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap()).unwrap();
    for request in sink.stub.seen() {
        assert_eq!(header(&request, "content-type"), "application/cloudevents-batch+json");
        let (id, at) = (header(&request, "webhook-id"), header(&request, "webhook-timestamp"));
        let events = request.body.as_array().unwrap();
        let digest = Sha256::digest(&request.text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let name = if events.len() == 1 { events[0]["id"].as_str().unwrap() } else { &digest };
        assert_eq!((id, at), (name, &*app.clock.now().unix_timestamp().to_string()));
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
        mac.update(format!("{id}.{at}.{}", request.text).as_bytes());
        let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        assert_eq!(header(&request, "webhook-signature"), signature.to_ascii_lowercase());
    }
    // The secret is nowhere else.
    assert!(!ops.get(SINKS).await.text.contains("whsec"));
    // Everything again, with the same ids.
    let requests = sink.stub.seen().len();
    order(&ops, added["id"].as_str().unwrap(), json!({"order": "resend", "from": ""})).await.assert_status(204);
    wait("everything arrives again", async || sink.bodies().len() == 42).await;
    assert_eq!(sink.bodies()[..21], sink.bodies()[21..]);
    assert_eq!(sink.stub.seen().len(), requests + 1, "in one batch");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_one_account_waits_for_delays_no_other(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let luis = app.user("luis");
    let (theirs, payee) = luis.account_and_payee().await;
    let ops = app.operator(Some("events:admin"));
    let sink = Sink::start().await;
    sink.refuses.lock().unwrap().clone_from(&from);
    let id = add(&ops, &sink.stub.url, "").await["id"].as_str().unwrap().to_owned();
    for amount in 1..=5 {
        ana.transfer(&from, &to, &amount.to_string()).await.assert_status(200);
        luis.transfer(&theirs, &payee, &amount.to_string()).await.assert_status(200);
    }
    wait("the other's arrive", async || sink.amounts(&theirs).len() == 6).await;
    wait("they are parked", async || undelivered(&ops).await == 6).await;
    let listed = ops.get(&format!("{SINKS}/{id}/undelivered")).await.assert_status(200).json();
    let attempts: Vec<_> =
        listed["events"].as_array().unwrap().iter().map(|it| it["attempts"].as_i64().unwrap()).collect();
    assert!(attempts[0] > 0 && attempts[1..] == [0; 5], "only the first is tried: {listed}");
    assert!(listed["events"][0]["lastError"].as_str().unwrap().contains("503"), "{listed}");
    let oldest = app.ai().get("/metrics").await.text;
    assert!(oldest.contains("caudal_sink_deliveries_total{kind=\"webhook\",result=\"refused\"}"), "{oldest}");
    // A paused sink gets nothing, and goes on where it was.
    order(&ops, &id, json!({"order": "pause"})).await.assert_status(204);
    sink.refuses.lock().unwrap().clear();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let seen = sink.stub.seen().len();
    order(&ops, &id, json!({"order": "resend"})).await.assert_status(204);
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!((sink.stub.seen().len(), undelivered(&ops).await), (seen, 6));
    order(&ops, &id, json!({"order": "resume"})).await.assert_status(204);
    wait("nothing is undelivered", async || undelivered(&ops).await == 0).await;
    assert_eq!(sink.amounts(&from), [10_000.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    order(&ops, &id, json!({"order": "remove"})).await.assert_status(204);
    refused(&app, order(&ops, &id, json!({"order": "pause"})), 404, "not-found", None).await;
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_sink_that_refuses_everything_is_left_waiting_at_a_bound(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let ops = app.operator(Some("events:admin"));
    let sink = Sink::start().await;
    sink.status.store(503, Ordering::SeqCst);
    let id = add(&ops, &sink.stub.url, "").await["id"].as_str().unwrap().to_owned();
    let bulk = |part: usize| {
        let transfer = |number: usize| json!({"idempotencyKey": format!("{part}-{number}"), "fromAccountId": from, "toBeneficiaryId": to, "amount": 0.01});
        json!({"transfers": (0..600).map(transfer).collect::<Vec<_>>()})
    };
    for part in 0..2 {
        ana.post("/api/ledger/transactions/bulk", bulk(part)).await.assert_status(200);
    }
    let most = i64::try_from(UNDELIVERED_MAX).unwrap();
    wait("the bound is reached", async || undelivered(&ops).await >= most).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!((most..most + 200).contains(&undelivered(&ops).await), "a batch more at most");
    sink.status.store(200, Ordering::SeqCst);
    order(&ops, &id, json!({"order": "resend"})).await.assert_status(204);
    wait("everything arrives", async || sink.amounts(&from).len() == 1_201).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hostile_answers_are_bounded(db: PgPool) {
    let (app, ..) = TestApp::ready(db).await;
    let ops = app.operator(Some("events:admin"));
    let elsewhere = Sink::start().await;
    let redirect = format!("HTTP/1.1 307 X\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", elsewhere.stub.url);
    let endless = format!(
        "HTTP/1.1 200 X\r\nContent-Length: {0}\r\n\r\n{1}",
        REPLY_BYTES_MAX + 1,
        "x".repeat(REPLY_BYTES_MAX + 1)
    );
    let begun = tokio::time::Instant::now();
    for (act, error) in
        [(Act::Bytes(redirect), "307"), (Act::Bytes(endless), "no usable reply"), (Act::Hang, "no usable reply")]
    {
        let stub = Stub::start(move |_| act.clone()).await;
        let id = add(&ops, &stub.url, "").await["id"].as_str().unwrap().to_owned();
        let path = format!("{SINKS}/{id}/undelivered");
        let first =
            async || ops.get(&path).await.json()["events"][0]["lastError"].as_str().unwrap_or_default().to_owned();
        for _ in 0..30 {
            if !first().await.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        assert!(first().await.contains(error), "{}", first().await);
        order(&ops, &id, json!({"order": "remove"})).await.assert_status(204);
    }
    assert!(begun.elapsed() >= TIME_MAX && elsewhere.bodies().is_empty());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn sinks_are_as_recorded_and_few(db: PgPool) {
    let (app, ..) = TestApp::ready(db).await;
    let ops = app.operator(Some("events:admin"));
    let valid = json!({"kind": "webhook", "url": "http://127.0.0.1:1/"});
    for (field, value) in [
        ("kind", json!("kafka")),
        ("url", json!("http://events.example.com/")),
        ("url", json!("https://user:secret@events.example.com/")),
        ("types", json!(["mx.caudal.nothing"])),
        ("from", json!("x")),
    ] {
        let mut body = valid.clone();
        body[field] = value;
        refused(&app, ops.post(SINKS, body), 422, "validation-failed", Some(field)).await;
    }
    // Write access to the database alone redirects no events.
    let elsewhere = Sink::start().await;
    let forged = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";
    let forge = format!(
        "with forged as (insert into sink values ('{forged}', 'webhook', '{}', '{{}}', false, 'eva', now()))
        insert into sink_progress values ('{forged}', '', now())",
        elsewhere.stub.url
    );
    sqlx::query(sqlx::AssertSqlSafe(forge)).execute(&app.db).await.unwrap();
    refused(&app, order(&ops, forged, json!({"order": "resume"})), 404, "not-found", None).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(elsewhere.bodies().is_empty());
    order(&ops, forged, json!({"order": "remove"})).await.assert_status(204);
    for _ in 0..SINKS_MAX {
        ops.post(SINKS, valid.clone()).await.assert_status(201);
    }
    refused(&app, ops.post(SINKS, valid), 422, "validation-failed", None).await;
}
