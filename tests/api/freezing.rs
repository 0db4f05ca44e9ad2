//! `/admin/accounts/{id}/freeze` and `/unfreeze`: no money leaves a frozen account.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, CLABE, Client, TestApp, refused};

const SCOPE: Option<&str> = Some("ledger:operate");

async fn set(ops: &Client, account: &str, action: &str) -> Answer {
    ops.post(&format!("/admin/accounts/{account}/{action}"), json!({"reason": "case 4711"})).await
}

async fn account(user: &Client) -> Value {
    user.get("/api/ledger/accounts").await.json()[0].clone()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_money_leaves_a_frozen_account(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, ops) = (app.user("ana"), app.operator(SCOPE));
    let (from, to) = ana.account_and_payee().await;
    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 10});
    let hold = ana.post("/api/ledger/holds", order.clone()).await.assert_status(201).id();
    let keyed = ana.with("idempotency-key", "before");
    let sent = keyed.transfer(&from, &to, "1").await;
    assert!(account(&ana).await.get("frozen").is_none());

    let frozen = set(&ops, &from, "freeze").await.assert_status(200).json();
    assert_eq!(frozen, json!({"accountId": from, "frozen": true, "changed": true}));
    assert_eq!(account(&ana).await["frozen"], true);
    let before = app.rows().await;
    assert_eq!(set(&ops, &from, "freeze").await.assert_status(200).json()["changed"], false);
    assert_eq!(app.rows().await, before, "freezing it again changes nothing");

    refused(&app, ana.transfer(&from, &to, "1"), 403, "account-frozen", None).await;
    refused(&app, ana.with("idempotency-key", "k").transfer(&from, &to, "1"), 403, "account-frozen", None).await;
    refused(&app, ana.post("/api/ledger/holds", order), 403, "account-frozen", None).await;
    let capture = format!("/api/ledger/holds/{hold}/capture");
    refused(&app, ana.post(&capture, json!({})), 403, "account-frozen", None).await;
    let item = json!({"idempotencyKey": "k", "fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
    let bulk = ana.post("/api/ledger/transactions/bulk", json!({"transfers": [item]})).await.json();
    let result = &bulk["results"][0];
    assert_eq!((&result["status"], &result["problem"]["code"]), (&json!(403), &json!("account-frozen")));
    // A retry of what was done before still gets its answer.
    assert_eq!(keyed.transfer(&from, &to, "1").await.assert_status(200).json(), sent.json());

    let thawed = set(&ops, &from, "unfreeze").await.assert_status(200).json();
    assert_eq!(thawed, json!({"accountId": from, "frozen": false, "changed": true}));
    assert_eq!(set(&ops, &from, "unfreeze").await.json()["changed"], false);
    // A refusal did not use up its key.
    ana.with("idempotency-key", "k").transfer(&from, &to, "1").await.assert_status(200);
    ana.post(&capture, json!({})).await.assert_status(200);
    assert_eq!(ana.balance().await, "9988.00");
    let history: Vec<(String, String, String)> =
        sqlx::query_as("select event, actor, reason from account_event order by ordinal")
            .fetch_all(&app.db)
            .await
            .unwrap();
    let event = |event: &str| (event.to_owned(), "ops".to_owned(), "case 4711".to_owned());
    assert_eq!(history, [event("frozen"), event("unfrozen")]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_hold_of_a_frozen_account_can_be_released(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, ops) = (app.user("ana"), app.operator(SCOPE));
    let (from, to) = ana.account_and_payee().await;
    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 10});
    let hold = ana.post("/api/ledger/holds", order).await.assert_status(201).id();
    set(&ops, &from, "freeze").await.assert_status(200);
    ana.post(&format!("/api/ledger/holds/{hold}/void"), json!({})).await.assert_status(200);
    assert_eq!((&account(&ana).await["frozen"], account(&ana).await.get("held")), (&json!(true), None));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unknown_accounts_and_invalid_reasons_are_refused(db: PgPool) {
    let app = TestApp::new(db).await;
    let ops = app.operator(SCOPE);
    let from = app.user("ana").open_account(CLABE).await;
    let funding = caudal::ledger::FUNDING_ACCOUNT.to_string();
    for nobody in ["01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", "x", &funding] {
        for action in ["freeze", "unfreeze"] {
            refused(&app, set(&ops, nobody, action), 404, "not-found", None).await;
        }
    }
    let path = format!("/admin/accounts/{from}/freeze");
    for reason in [json!(null), json!(""), json!(" "), json!(7), json!("x".repeat(501))] {
        refused(&app, ops.post(&path, json!({"reason": reason})), 422, "validation-failed", Some("reason")).await;
    }
    refused(&app, ops.post_text(&path, "{"), 400, "malformed-json", None).await;
    ops.post(&path, json!({"reason": "x".repeat(500)})).await.assert_status(200);
}
