//! Enforced risk: a high-risk transfer must be acknowledged with the token from its risk context.

use caudal::domain::model::ModelKind;
use caudal::domain::risk::Enforcement;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::harness::{Answer, Client, Options, PAYEE_CLABE, TestApp, refused, registry};

pub(crate) async fn app(db: PgPool, risk_enforcement: Enforcement) -> TestApp {
    TestApp::with(db, Options { risk_enforcement, ..Options::default() }).await
}

/// Sends a transfer, from a new device and location unless `usual`.
pub(crate) async fn send(
    client: &Client,
    (from, to): (&str, &str),
    amount: f64,
    usual: bool,
    token: Option<&Value>,
) -> Answer {
    let mut body = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": amount});
    if usual {
        body["isNewDevice"] = json!(false);
        body["geolocationChanged"] = json!(false);
    }
    if let Some(token) = token {
        body["acknowledgmentToken"] = token.clone();
    }
    client.post("/api/ledger/transactions", body).await
}

async fn context(client: &Client, (from, to): (&str, &str), amount: f64) -> Value {
    let query =
        format!("fromAccountId={from}&toBeneficiaryId={to}&amount={amount}&isNewDevice=true&geolocationChanged=true");
    client.get(&format!("/api/ledger/risk-context?{query}")).await.assert_status(200).json()
}

pub(crate) const REQUIRED: &str = "risk-acknowledgment-required";

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_high_risk_requires_the_token_of_this_transfer(db: PgPool) {
    let app = app(db, Enforcement::Enforce).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let way = (from.as_str(), to.as_str());
    // Device and location count as new by default, in both requests, and the refusal says so.
    let without = send(&ana, way, 5_000.0, false, None).await;
    assert!(without.text.contains("count as true if they are left out"), "{without:?}");
    refused(&app, send(&ana, way, 5_000.0, false, None), 400, REQUIRED, None).await;
    let path = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=1500.50");
    let plain = ana.get(&path).await.assert_status(200).json()["acknowledgmentToken"].clone();
    send(&ana, way, 1_500.5, false, Some(&plain)).await.assert_status(200);
    let shown = context(&ana, way, 5_000.0).await;
    assert_eq!(shown["assessment"]["result"]["risk_level"], "high");
    let token = &shown["acknowledgmentToken"];
    let expires = shown["acknowledgmentExpiresAt"].as_str().unwrap();
    assert_eq!(expires, "2026-11-21T18:05:00.000Z");
    // For another amount, forged, and expired.
    refused(&app, send(&ana, way, 5_000.01, false, Some(token)), 400, REQUIRED, None).await;
    for forged in [json!("AAAA"), json!(""), json!("yes"), json!(token.as_str().unwrap().to_uppercase())] {
        refused(&app, send(&ana, way, 5_000.0, false, Some(&forged)), 400, REQUIRED, None).await;
    }
    let long = json!("x".repeat(801));
    refused(&app, send(&ana, way, 5_000.0, false, Some(&long)), 400, "validation-failed", Some("acknowledgmentToken"))
        .await;
    app.clock.advance(Duration::minutes(5));
    refused(&app, send(&ana, way, 5_000.0, false, Some(token)), 400, REQUIRED, None).await;
    let fresh = context(&ana, way, 5_000.0).await;
    send(&ana, way, 5_000.0, false, Some(&fresh["acknowledgmentToken"])).await.assert_status(200);
    // Luis cannot use what Ana acknowledged.
    let luis = app.user("luis");
    let (from, to) = luis.account_and_payee().await;
    let theirs = (from.as_str(), to.as_str());
    let token = context(&ana, way, 4_000.0).await["acknowledgmentToken"].clone();
    refused(&app, send(&luis, theirs, 4_000.0, false, Some(&token)), 400, REQUIRED, None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_score_that_is_only_logged_never_fails_a_transfer(db: PgPool) {
    let options = Options { risk_enforcement: Enforcement::Shadow, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    app.models.activate(registry().without(ModelKind::Risk));
    send(&ana, (&from, &to), 10.0, true, None).await.assert_status(200);
    app.models.activate(registry());
    send(&ana, (&from, &to), 10.0, true, None).await.assert_status(200);
    assert_eq!(app.decisions(ModelKind::Risk).await.len(), 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_not_high_goes_through(db: PgPool) {
    let app = app(db, Enforcement::Enforce).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let way = (from.as_str(), to.as_str());
    app.clock.advance(Duration::hours(1));
    for _ in 0..5 {
        send(&ana, way, 10.0, true, None).await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_refusal_for_lack_of_acknowledgment_does_not_use_up_the_key(db: PgPool) {
    let app = app(db, Enforcement::Enforce).await;
    let ana = app.user("ana").with("idempotency-key", "k");
    let (from, to) = ana.account_and_payee().await;
    let way = (from.as_str(), to.as_str());
    refused(&app, send(&ana, way, 5_000.0, false, None), 400, REQUIRED, None).await;
    let token = context(&ana, way, 5_000.0).await["acknowledgmentToken"].clone();
    let first = send(&ana, way, 5_000.0, false, Some(&token)).await;
    first.assert_status(200);
    // It then replays without a token, even after the payee was deleted.
    ana.delete(&format!("/api/ledger/beneficiaries/{to}")).await.assert_status(204);
    let again = send(&ana, way, 5_000.0, false, None).await;
    assert_eq!((again.status.as_u16(), again.header("idempotency-replayed")), (200, Some("true")));
    assert_eq!(again.json()["id"], first.json()["id"]);
    // Without the key, a missing payee is reported as usual.
    let unknown = app.user("ana");
    refused(&app, send(&unknown, way, 1.0, false, None), 400, "beneficiary-not-found", None).await;
}

/// One acknowledgment, one transfer: whatever was refused in between, and however many arrive at once.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_acknowledgment_makes_one_transfer(db: PgPool) {
    let app = app(db, Enforcement::Enforce).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let way = (from.as_str(), to.as_str());
    let token = context(&ana, way, 2_000.0).await["acknowledgmentToken"].clone();
    // A refusal for another reason does not use it up.
    let freeze = format!("/admin/accounts/{from}");
    let ops = app.operator(Some("ledger:operate"));
    ops.post(&format!("{freeze}/freeze"), json!({"reason": "a test"})).await.assert_status(200);
    refused(&app, send(&ana, way, 2_000.0, false, Some(&token)), 403, "account-frozen", None).await;
    ops.post(&format!("{freeze}/unfreeze"), json!({"reason": "a test"})).await.assert_status(200);
    let keyed = app.user("ana").with("idempotency-key", "k");
    let first = send(&keyed, way, 2_000.0, false, Some(&token)).await.assert_status(200).json();
    let again = send(&keyed, way, 2_000.0, false, Some(&token)).await;
    assert_eq!((again.json()["id"].clone(), again.header("idempotency-replayed")), (first["id"].clone(), Some("true")));
    refused(&app, send(&ana, way, 2_000.0, false, Some(&token)), 400, REQUIRED, None).await;
    // Nor does it make a hold.
    let hold = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 2_000, "acknowledgmentToken": token});
    refused(&app, ana.post("/api/ledger/holds", hold), 400, REQUIRED, None).await;
    assert_eq!(ana.balance().await, "8000.00");

    // Of many at once, one is made: after one such transfer, the risk of the next is as high.
    let luis = app.user("luis");
    let (from, to) = luis.account_and_payee().await;
    let way = (from.as_str(), to.as_str());
    let token = context(&luis, way, 2_000.0).await["acknowledgmentToken"].clone();
    let (luis, way, token) = (&luis, &way, &token);
    let all = futures_util::future::join_all((0..8).map(async |_| send(luis, *way, 2_000.0, false, Some(token)).await));
    assert_eq!(all.await.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(luis.balance().await, "8000.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn off_and_shadow_refuse_nothing(db: PgPool) {
    for (mode, tokens) in [(Enforcement::Off, false), (Enforcement::Shadow, true)] {
        let app = app(db.clone(), mode).await;
        let ana = app.user("ana");
        let (from, to) = (ana.open_account(&format!("{mode:?} 1")).await, ana.save_payee("Luis", PAYEE_CLABE).await);
        let way = (from.as_str(), to.as_str());
        let shown = context(&ana, way, 5_000.0).await;
        assert_eq!(shown.get("acknowledgmentToken").is_some(), tokens);
        send(&ana, way, 5_000.0, false, None).await.assert_status(200);
    }
}
