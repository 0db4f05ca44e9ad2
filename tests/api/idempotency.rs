//! `Idempotency-Key`: one key, one response, forever.

use serde_json::json;
use sqlx::PgPool;
use time::Duration;

use crate::harness::{Answer, CLABE, PAYEE_CLABE, TestApp, refused};

#[track_caller]
fn assert_replayed(answer: &Answer, first: &Answer) {
    assert_eq!(answer.status, first.status, "{answer:?}");
    assert_eq!(answer.header("idempotency-replayed"), Some("true"), "{answer:?}");
    let (mut left, mut right) = (answer.json(), first.json());
    // Only the request ids differ.
    left["requestId"] = json!(null);
    right["requestId"] = json!(null);
    assert_eq!(left, right);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_repeated_request_is_not_executed_again(db: PgPool) {
    let app = TestApp::new(db).await;
    let ana = app.user("ana").with("idempotency-key", "order-1");
    let (from, to) = ana.account_and_payee().await;
    let first = ana.transfer(&from, &to, "100").await;
    first.assert_status(200);
    let before = app.rows().await;
    // The same amount in another notation, the key quoted, and much later.
    app.clock.advance(Duration::days(30));
    assert_replayed(&ana.transfer(&from, &to, "1e2").await, &first);
    let quoted = app.user("ana").with("idempotency-key", "\"order-1\"");
    assert_replayed(&quoted.transfer(&from, &to, "100.00").await, &first);
    assert_eq!(app.rows().await, before);
    assert_eq!(ana.balance().await, "9900.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_key_belongs_to_one_transfer(db: PgPool) {
    let app = TestApp::new(db).await;
    let ana = app.user("ana").with("idempotency-key", "k");
    let from = ana.open_account(CLABE).await;
    let other_from = ana.open_account("2").await;
    let to = ana.save_payee("Luis", PAYEE_CLABE).await;
    let other_to = ana.save_payee("Luis", PAYEE_CLABE).await;
    ana.transfer(&from, &to, "1").await.assert_status(200);
    let reused = "idempotency-key-reused";
    refused(&app, ana.transfer(&from, &to, "1.01"), 422, reused, Some("Idempotency-Key")).await;
    refused(&app, ana.transfer(&other_from, &to, "1"), 422, reused, Some("Idempotency-Key")).await;
    refused(&app, ana.transfer(&from, &other_to, "1"), 422, reused, Some("Idempotency-Key")).await;
    // Keys are scoped to users.
    let luis = app.user("luis").with("idempotency-key", "k");
    let (from, to) = luis.account_and_payee().await;
    luis.transfer(&from, &to, "2").await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_decided_rejection_is_frozen(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let itself = ana.save_payee("Ana", CLABE).await;
    app.write("update app_user set per_transfer_limit = 2000000").await;
    let cases = [
        ("funds", &to, "15000", "insufficient-funds"),
        ("limit", &to, "20000.01", "limit-exceeded"),
        ("self", &itself, "1", "same-account"),
    ];
    for (key, payee, amount, code) in cases {
        let keyed = ana.with("idempotency-key", key);
        let first = keyed.transfer(&from, payee, amount).await;
        assert_eq!(first.status, 400, "{first:?}");
        let codes: Vec<_> =
            first.json()["errors"].as_array().unwrap().iter().map(|error| error["code"].clone()).collect();
        assert!(codes.contains(&json!(code)), "{key}: {codes:?}");
        let before = app.rows().await;
        assert_replayed(&keyed.transfer(&from, payee, amount).await, &first);
        assert_eq!(app.rows().await, before, "{key}");
    }
    // Later credits do not turn a rejection into a success; a new key is decided again.
    ana.with("idempotency-key", "funds").transfer(&from, &to, "15000").await.assert_problem(
        400,
        "insufficient-funds",
        Some("amount"),
    );
    assert_eq!(app.count("select count(*) from idempotency").await, 3);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_invalid_request_does_not_use_up_its_key(db: PgPool) {
    let app = TestApp::new(db).await;
    let ana = app.user("ana").with("idempotency-key", "k");
    let (from, to) = ana.account_and_payee().await;
    refused(&app, ana.transfer(&from, &to, "0"), 400, "invalid-amount", Some("amount")).await;
    let nobody = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";
    refused(&app, ana.transfer(nobody, &to, "1"), 400, "account-not-found", None).await;
    refused(&app, ana.transfer(&from, nobody, "1"), 400, "beneficiary-not-found", None).await;
    ana.transfer(&from, &to, "1").await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_keys_are_refused(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    for key in ["", "\"\"", "a b", "\"open", "ñ", &"k".repeat(256)] {
        let keyed = ana.with("idempotency-key", key);
        refused(&app, keyed.transfer(&from, &to, "1"), 400, "validation-failed", Some("Idempotency-Key")).await;
    }
    let two = ana.with("idempotency-key", "a").with("idempotency-key", "b");
    refused(&app, two.transfer(&from, &to, "1"), 400, "validation-failed", Some("Idempotency-Key")).await;
    ana.with("idempotency-key", &"k".repeat(255)).transfer(&from, &to, "1").await.assert_status(200);
}
