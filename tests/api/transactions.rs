//! `/api/ledger/transactions`: one transfer at a time.

use caudal::domain::model::ModelKind;
use serde_json::json;
use sqlx::PgPool;
use time::Duration;

use crate::harness::{CLABE, Options, PAYEE_CLABE, TestApp, refused, registry};

const PATH: &str = "/api/ledger/transactions";

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_transfer_completes_and_the_balance_reflects_it(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let from = ana.open_account(CLABE).await;
    let to = ana.save_payee("Luis Pérez", PAYEE_CLABE).await;
    assert_eq!(ana.get(PATH).await.assert_status(200).json(), json!([]));

    let answer = ana.transfer(&from, &to, "1500.50").await;
    answer.assert_status(200);
    let made = answer.json();
    let want = json!({
        "id": made["id"], "fromAccountId": from, "toBeneficiaryId": to, "beneficiaryName": "Luis Pérez", "amount": 1500.5,
        "beneficiaryAccountNumber": PAYEE_CLABE, "beneficiaryBank": "BBVA", "status": "completed", "speiReference": made["speiReference"], "createdAt": "2026-11-21T18:00:00.000Z",
    });
    assert_eq!(made, want);
    let reference = made["speiReference"].as_str().unwrap();
    assert_eq!(reference.len(), 30);
    assert!(reference.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()), "{reference}");
    assert!(answer.header("idempotency-replayed").is_none());

    assert_eq!(ana.balance().await, "8499.50");
    assert_eq!(ana.get(PATH).await.json(), json!([made]));
    let entries = "select count(*) from entry join account_balance using (account_id, stripe) \
        where entry.version = account_balance.version and balance_after = posted";
    assert_eq!(app.count(entries).await, 3, "customer, funding and SPEI each end with their last entry");
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn missing_and_wrong_fields_are_named(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    for field in ["fromAccountId", "toBeneficiaryId", "amount"] {
        let mut body = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
        body.as_object_mut().unwrap().remove(field);
        refused(&app, ana.post(PATH, body), 400, "validation-failed", Some(field)).await;
    }
    for field in ["fromAccountId", "toBeneficiaryId"] {
        for value in
            [json!("x"), json!(7), json!(null), json!(""), json!(from.replace('-', "")), json!(format!("{{{from}}}"))]
        {
            let mut body = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
            body[field] = value;
            refused(&app, ana.post(PATH, body), 400, "validation-failed", Some(field)).await;
        }
    }
    let all = ana.post(PATH, json!({"amount": -1})).await;
    for field in ["fromAccountId", "toBeneficiaryId", "amount"] {
        all.assert_problem(400, "validation-failed", Some(field));
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unknown_accounts_and_payees_are_refused(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let nobody = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";
    refused(&app, ana.transfer(nobody, &to, "1"), 400, "account-not-found", Some("fromAccountId")).await;
    refused(&app, ana.transfer(&from, nobody, "1"), 400, "beneficiary-not-found", Some("toBeneficiaryId")).await;
    // No user may debit the bank's own accounts.
    for own in [caudal::ledger::FUNDING_ACCOUNT, caudal::ledger::SPEI_ACCOUNT] {
        let own = own.to_string();
        refused(&app, ana.transfer(&own, &to, "1"), 400, "account-not-found", Some("fromAccountId")).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_balance_covers_its_debits_to_the_last_centavo(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    refused(&app, ana.transfer(&from, &to, "10000.01"), 400, "insufficient-funds", Some("amount")).await;
    ana.transfer(&from, &to, "10000").await.assert_status(200);
    refused(&app, ana.transfer(&from, &to, "0.01"), 400, "insufficient-funds", Some("amount")).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_account_cannot_pay_itself(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let from = ana.open_account(CLABE).await;
    let itself = ana.save_payee("Ana", "646-180 1104 0000 0007").await;
    refused(&app, ana.transfer(&from, &itself, "1"), 400, "same-account", Some("toBeneficiaryId")).await;
    // A payee that happens to be another customer's account is still paid through SPEI.
    let luis = app.user("luis");
    luis.open_account(PAYEE_CLABE).await;
    let to = ana.save_payee("Luis", PAYEE_CLABE).await;
    ana.transfer(&from, &to, "1").await.assert_status(200);
    assert_eq!(luis.balance().await, "10000.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_new_payee_waits_for_the_configured_time(db: PgPool) {
    let app = TestApp::with(db, Options { cooling_seconds: 1_800, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    app.clock.advance(Duration::seconds(1_799));
    refused(&app, ana.transfer(&from, &to, "1"), 400, "beneficiary-cooling", Some("toBeneficiaryId")).await;
    app.clock.advance(Duration::SECOND);
    ana.transfer(&from, &to, "1").await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn without_rules_no_transfer_is_decided(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    app.models.activate(registry().without(ModelKind::TransferRules));
    let keyed = ana.with("idempotency-key", "k");
    refused(&app, keyed.transfer(&from, &to, "1"), 503, "model-unavailable", None).await;
    assert_eq!(keyed.transfer(&from, &to, "1").await.header("retry-after"), Some("1"));
    app.models.activate(registry());
    keyed.transfer(&from, &to, "1").await.assert_status(200);
}
