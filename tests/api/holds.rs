//! `/api/ledger/holds`: money that is set aside, then captured, voided or expired.

use std::time::Instant;

use caudal::domain::money::Money;
use caudal::domain::risk::Enforcement;
use caudal::ledger::batch::Terms;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::harness::{Answer, CLABE, Client, Options, TestApp, refused};

const PATH: &str = "/api/ledger/holds";

/// An id that is nobody's.
const NOBODY: &str = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";

async fn place(user: &Client, from: &str, to: &str, amount: f64) -> Answer {
    user.post(PATH, json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": amount})).await
}

async fn capture(user: &Client, hold: &str, body: Value) -> Answer {
    user.post(&format!("{PATH}/{hold}/capture"), body).await
}

async fn void(user: &Client, hold: &str) -> Answer {
    user.post(&format!("{PATH}/{hold}/void"), json!({})).await
}

async fn status(user: &Client, hold: &str) -> String {
    user.get(&format!("{PATH}/{hold}")).await.assert_status(200).json()["status"].as_str().unwrap().to_owned()
}

/// The balance of the only account and what is held of it.
async fn money(user: &Client) -> (f64, Option<f64>) {
    let account = &user.get("/api/ledger/accounts").await.json()[0];
    (account["balance"].as_f64().unwrap(), account["held"].as_f64())
}

fn assert_replayed(answer: &Answer, first: &Answer) {
    assert_eq!(answer.header("idempotency-replayed"), Some("true"), "{answer:?}");
    assert_eq!((answer.status, answer.json()), (first.status, first.json()));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn money_is_set_aside_and_captured(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    assert_eq!(ana.get(PATH).await.assert_status(200).json(), json!([]));
    let placed = place(&ana, &from, &to, 250.0).await;
    let hold = placed.assert_status(201).json();
    let id = placed.id();
    let want = json!({
        "id": id, "fromAccountId": from, "toBeneficiaryId": to, "beneficiaryName": "Luis", "amount": 250.0,
        "status": "placed", "expiresAt": "2026-11-28T18:00:00.000Z", "createdAt": "2026-11-21T18:00:00.000Z",
    });
    assert_eq!((&hold, placed.header("location")), (&want, Some(format!("{PATH}/{id}").as_str())));
    assert_eq!((ana.get(PATH).await.json(), ana.get(&format!("{PATH}/{id}")).await.json()), (json!([hold]), hold));
    assert_eq!(money(&ana).await, (10_000.0, Some(250.0)));
    // What is held is not available.
    refused(&app, ana.transfer(&from, &to, "9750.01"), 400, "insufficient-funds", Some("amount")).await;
    refused(&app, place(&ana, &from, &to, 9750.01), 400, "insufficient-funds", Some("amount")).await;

    let captured = capture(&ana, &id, json!({})).await;
    let transfer = captured.assert_status(200).json();
    assert_eq!((&transfer["amount"], &transfer["status"]), (&json!(250.0), &json!("completed")));
    assert_eq!((&transfer["fromAccountId"], &transfer["toBeneficiaryId"]), (&json!(from), &json!(to)));
    assert_eq!(ana.get("/api/ledger/transactions").await.json(), json!([transfer]));
    let ended = ana.get(&format!("{PATH}/{id}")).await.json();
    assert_eq!((&ended["status"], &ended["transferId"]), (&json!("captured"), &transfer["id"]));
    assert_eq!(money(&ana).await, (9_750.0, None));
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_part_is_captured_and_the_rest_released(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    // All of the balance can be held and captured.
    let id = place(&ana, &from, &to, 10_000.0).await.id();
    refused(&app, capture(&ana, &id, json!({"amount": 10_000.01})), 400, "hold-exceeded", Some("amount")).await;
    for amount in [json!(0), json!(-1), json!("1"), json!(1.001)] {
        refused(&app, capture(&ana, &id, json!({"amount": amount})), 400, "invalid-amount", Some("amount")).await;
    }
    capture(&ana, &id, json!({"amount": 0.01})).await.assert_status(200);
    assert_eq!(money(&ana).await, (9_999.99, None));
    refused(&app, void(&ana, &id), 409, "hold-ended", None).await;
    refused(&app, capture(&ana, &id, json!({"amount": 0.02})), 409, "hold-ended", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_retry_captures_nothing_twice(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    for (key, body) in [(Some("k"), json!({"amount": 40})), (None, json!({"amount": 40})), (None, json!({}))] {
        let id = place(&ana, &from, &to, 100.0).await.id();
        let client = key.map_or_else(|| ana.clone(), |key| ana.with("idempotency-key", key));
        let first = capture(&client, &id, body.clone()).await;
        first.assert_status(200);
        let before = app.rows().await;
        app.clock.advance(Duration::days(40));
        assert_replayed(&capture(&client, &id, body).await, &first);
        assert_eq!(app.rows().await, before);
        // Another key asks for another transfer.
        let other = ana.with("idempotency-key", "other");
        refused(&app, capture(&other, &id, json!({"amount": 40})), 409, "hold-ended", None).await;
    }
    // A key belongs to one capture of one hold for one amount.
    let id = place(&ana, &from, &to, 100.0).await.id();
    let keyed = ana.with("idempotency-key", "k");
    let reused = "idempotency-key-reused";
    refused(&app, capture(&keyed, &id, json!({"amount": 40})), 422, reused, Some("Idempotency-Key")).await;
    refused(&app, keyed.transfer(&from, &to, "40"), 422, reused, Some("Idempotency-Key")).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn concurrent_captures_move_the_money_once(db: PgPool) {
    let (app, other) = (TestApp::new(db.clone()).await, TestApp::new(db).await);
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let id = place(&ana, &from, &to, 100.0).await.id();
    let mut tries = tokio::task::JoinSet::new();
    for turn in 0..12 {
        let client = [&app, &other][turn % 2].user("ana").with("idempotency-key", &format!("key{turn}"));
        let id = id.clone();
        tries.spawn(async move { capture(&client, &id, json!({})).await.status.as_u16() });
    }
    let mut statuses = tries.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200], vec![409; 11]].concat());
    assert_eq!(money(&ana).await, (9_900.0, None));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_key_places_one_hold(db: PgPool) {
    let app = TestApp::new(db).await;
    let ana = app.user("ana").with("idempotency-key", "k");
    let (from, to) = ana.account_and_payee().await;
    let first = place(&ana, &from, &to, 100.0).await;
    first.assert_status(201);
    let before = app.rows().await;
    let again = place(&ana, &from, &to, 100.0).await;
    assert_replayed(&again, &first);
    assert_eq!((app.rows().await, again.header("location")), (before, first.header("location")));
    let reused = "idempotency-key-reused";
    refused(&app, place(&ana, &from, &to, 100.01), 422, reused, Some("Idempotency-Key")).await;
    refused(&app, ana.transfer(&from, &to, "100"), 422, reused, Some("Idempotency-Key")).await;
    let shorter = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 100, "expiresInSeconds": 60});
    refused(&app, ana.post(PATH, shorter), 422, reused, Some("Idempotency-Key")).await;
    // A refusal is kept too.
    let poor = app.user("ana").with("idempotency-key", "poor");
    let no = place(&poor, &from, &to, 9_900.01).await;
    no.assert_problem(400, "insufficient-funds", Some("amount"));
    void(&ana, &first.id()).await.assert_status(200);
    let again = place(&poor, &from, &to, 9_900.01).await;
    assert_eq!((again.status.as_u16(), again.header("idempotency-replayed")), (400, Some("true")));
    // A replay shows what became of the hold.
    let mut captured = place(&ana, &from, &to, 100.0).await.json();
    assert_eq!(captured["status"], "voided");
    let keyed = app.user("ana").with("idempotency-key", "k2");
    let id = place(&keyed, &from, &to, 5.0).await.id();
    let transfer = capture(&app.user("ana"), &id, json!({})).await.id();
    captured = place(&keyed, &from, &to, 5.0).await.assert_status(201).json();
    assert_eq!((&captured["status"], &captured["transferId"]), (&json!("captured"), &json!(transfer)));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_voided_hold_is_released_once(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let id = place(&ana, &from, &to, 100.0).await.id();
    let voided = void(&ana, &id).await.assert_status(200).json();
    assert_eq!((&voided["status"], voided.get("transferId")), (&json!("voided"), None));
    assert_eq!(money(&ana).await, (10_000.0, None));
    let before = app.rows().await;
    assert_eq!(void(&ana, &id).await.assert_status(200).json(), voided);
    assert_eq!(app.rows().await, before);
    refused(&app, capture(&ana, &id, json!({})), 409, "hold-ended", None).await;
    assert!(capture(&ana, &id, json!({})).await.text.contains("It is voided"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_hold_expires(db: PgPool) {
    // Two hosts that both look for holds whose time is over.
    let (app, _other) = (TestApp::new(db.clone()).await, TestApp::new(db).await);
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let short = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 100, "expiresInSeconds": 60});
    let id = ana.post(PATH, short).await.assert_status(201).id();
    let long = place(&ana, &from, &to, 50.0).await.id();
    app.clock.advance(Duration::seconds(59));
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert_eq!(status(&ana, &id).await, "placed");
    app.clock.advance(Duration::SECOND);
    // From then on, whether or not it is released yet.
    let late = capture(&ana, &id, json!({})).await;
    late.assert_problem(409, "hold-ended", None);
    assert!(late.text.contains("It is expired"), "{late:?}");
    let start = Instant::now();
    while status(&ana, &id).await != "expired" {
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "it does not expire");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!((money(&ana).await, status(&ana, &long).await), ((10_000.0, Some(50.0)), "placed".to_owned()));
    assert_eq!(app.count("select count(*) from hold_end").await, 1);
    refused(&app, void(&ana, &id), 409, "hold-ended", None).await;
    refused(&app, capture(&ana, &id, json!({})), 409, "hold-ended", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_holds_are_refused(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let body = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
    for field in ["fromAccountId", "toBeneficiaryId", "amount"] {
        let mut body = body.clone();
        body.as_object_mut().unwrap().remove(field);
        refused(&app, ana.post(PATH, body), 400, "validation-failed", Some(field)).await;
    }
    for seconds in [json!(0), json!(-1), json!(2_592_001), json!(1e300), json!(1.5), json!("60")] {
        let mut body = body.clone();
        body["expiresInSeconds"] = seconds;
        refused(&app, ana.post(PATH, body), 400, "validation-failed", Some("expiresInSeconds")).await;
    }
    for (seconds, until) in [(1, "2026-11-21T18:00:01.000Z"), (2_592_000, "2026-12-21T18:00:00.000Z")] {
        let mut body = body.clone();
        body["expiresInSeconds"] = json!(seconds);
        assert_eq!(ana.post(PATH, body).await.assert_status(201).json()["expiresAt"], until);
    }
    refused(&app, place(&ana, &from, &to, 0.0), 400, "invalid-amount", Some("amount")).await;
    refused(&app, place(&ana, NOBODY, &to, 1.0), 400, "account-not-found", Some("fromAccountId")).await;
    refused(&app, place(&ana, &from, NOBODY, 1.0), 400, "beneficiary-not-found", Some("toBeneficiaryId")).await;
    let itself = ana.save_payee("Ana", CLABE).await;
    refused(&app, place(&ana, &from, &itself, 1.0), 400, "same-account", Some("toBeneficiaryId")).await;
    let keyed = ana.with("idempotency-key", "a b");
    refused(&app, place(&keyed, &from, &to, 1.0), 400, "validation-failed", Some("Idempotency-Key")).await;
    let id = place(&ana, &from, &to, 1.0).await.id();
    refused(&app, capture(&keyed, &id, json!({})), 400, "validation-failed", Some("Idempotency-Key")).await;
    // The payee is asked for again when the hold is captured.
    ana.delete(&format!("/api/ledger/beneficiaries/{to}")).await.assert_status(204);
    refused(&app, capture(&ana, &id, json!({})), 400, "beneficiary-not-found", None).await;
    void(&ana, &id).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn other_users_holds_are_not_found(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = ana.account_and_payee().await;
    let (own_from, own_to) = luis.account_and_payee().await;
    let id = place(&ana, &from, &to, 100.0).await.id();
    refused(&app, place(&luis, &from, &own_to, 1.0), 400, "account-not-found", Some("fromAccountId")).await;
    refused(&app, place(&luis, &own_from, &to, 1.0), 400, "beneficiary-not-found", Some("toBeneficiaryId")).await;
    assert_eq!(luis.get(PATH).await.assert_status(200).json(), json!([]));
    for id in [id.as_str(), NOBODY, "x"] {
        refused(&app, luis.get(&format!("{PATH}/{id}")), 404, "not-found", None).await;
        refused(&app, capture(&luis, id, json!({})), 404, "not-found", None).await;
        refused(&app, void(&luis, id), 404, "not-found", None).await;
    }
    assert_eq!(status(&ana, &id).await, "placed");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn holds_are_listed_in_pages_newest_first(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let mut placed = Vec::new();
    for _ in 0..5 {
        app.clock.advance(Duration::SECOND);
        placed.push(place(&ana, &from, &to, 1.0).await.id());
    }
    placed.reverse();
    let (mut path, mut listed) = (format!("{PATH}?limit=2"), Vec::new());
    loop {
        let page = ana.get(&path).await;
        let ids = page.assert_status(200).json();
        listed.extend(ids.as_array().unwrap().iter().map(|hold| hold["id"].as_str().unwrap().to_owned()));
        let Some(link) = page.header("link") else { break };
        path = link.split(['<', '>']).nth(1).unwrap().to_owned();
    }
    assert_eq!(listed, placed);
    refused(&app, ana.get(&format!("{PATH}?limit=0")), 400, "validation-failed", Some("limit")).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn limits_are_checked_again_and_holds_do_not_count_towards_the_day(db: PgPool) {
    let terms = Terms {
        per_transfer_limit: Some(Money::from_minor(10_000)),
        per_day_limit: Some(Money::from_minor(15_000)),
        ..Terms::OPEN
    };
    let app = TestApp::with(db, Options { terms, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    refused(&app, place(&ana, &from, &to, 100.01), 400, "limit-exceeded", Some("amount")).await;
    let (one, two) = (place(&ana, &from, &to, 100.0).await.id(), place(&ana, &from, &to, 100.0).await.id());
    capture(&ana, &one, json!({})).await.assert_status(200);
    refused(&app, capture(&ana, &two, json!({})), 400, "limit-exceeded", Some("amount")).await;
    capture(&ana, &two, json!({"amount": 50})).await.assert_status(200);
    refused(&app, place(&ana, &from, &to, 0.01), 400, "limit-exceeded", Some("amount")).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_high_risk_is_acknowledged_for_the_hold_and_for_its_capture(db: PgPool) {
    let app = TestApp::with(db, Options { risk_enforcement: Enforcement::Enforce, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let token = async || {
        let query =
            format!("fromAccountId={from}&toBeneficiaryId={to}&amount=5000&isNewDevice=true&geolocationChanged=true");
        let shown = ana.get(&format!("/api/ledger/risk-context?{query}")).await.assert_status(200).json();
        assert_eq!(shown["assessment"]["result"]["risk_level"], "high");
        shown["acknowledgmentToken"].clone()
    };
    let required = "risk-acknowledgment-required";
    refused(&app, place(&ana, &from, &to, 5_000.0), 400, required, Some("acknowledgmentToken")).await;
    let body =
        json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 5_000, "acknowledgmentToken": token().await});
    let id = ana.post(PATH, body).await.assert_status(201).id();
    app.clock.advance(Duration::hours(1));
    refused(&app, capture(&ana, &id, json!({})), 400, required, Some("acknowledgmentToken")).await;
    capture(&ana, &id, json!({"acknowledgmentToken": token().await})).await.assert_status(200);
}
