//! Two users: neither can see, use, delete or infer anything of the other's.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, CLABE, PAYEE_CLABE, TestApp, refused};

/// A response without what differs between any two requests.
fn comparable(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    body["requestId"] = json!(null);
    body["instance"] = json!(null);
    (answer.status.as_u16(), body)
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn other_users_records_are_not_found(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = (ana.open_account(CLABE).await, ana.save_payee("Eva", PAYEE_CLABE).await);
    let (own_from, own_to) = (luis.open_account(CLABE).await, luis.save_payee("Eva", PAYEE_CLABE).await);
    let nobody = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b".to_owned();

    refused(&app, luis.transfer(&from, &own_to, "1"), 400, "account-not-found", Some("fromAccountId")).await;
    refused(&app, luis.transfer(&own_from, &to, "1"), 400, "beneficiary-not-found", Some("toBeneficiaryId")).await;
    refused(&app, luis.delete(&format!("/api/ledger/beneficiaries/{to}")), 404, "not-found", None).await;

    // Byte for byte the response to an id that never existed.
    let context =
        |from: &str, to: &str| format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=1");
    let pairs = [
        (luis.transfer(&from, &own_to, "1").await, luis.transfer(&nobody, &own_to, "1").await),
        (luis.transfer(&own_from, &to, "1").await, luis.transfer(&own_from, &nobody, "1").await),
        (
            luis.delete(&format!("/api/ledger/beneficiaries/{to}")).await,
            luis.delete(&format!("/api/ledger/beneficiaries/{nobody}")).await,
        ),
        (luis.get(&context(&from, &own_to)).await, luis.get(&context(&nobody, &own_to)).await),
        (luis.get(&context(&own_from, &to)).await, luis.get(&context(&own_from, &nobody)).await),
    ];
    for (foreign, unknown) in &pairs {
        assert!(foreign.status.is_client_error(), "{foreign:?}");
        assert_eq!(comparable(foreign), comparable(unknown));
    }
    ana.transfer(&from, &to, "1").await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn one_users_history_does_not_change_the_others_score(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = (luis.open_account(CLABE).await, luis.save_payee("Eva", PAYEE_CLABE).await);
    let context = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=100");
    let before = luis.get(&context).await.assert_status(200).json();
    let (from, to) = (ana.open_account(CLABE).await, ana.save_payee("Eva", PAYEE_CLABE).await);
    for _ in 0..5 {
        ana.transfer(&from, &to, "100").await.assert_status(200);
    }
    assert_eq!(luis.get(&context).await.json(), before);
}
