//! `/admin/payments`: payments that STP left pending, and decisions on them by hand.

use std::time::Duration;

use caudal::app::ApprovalPolicy;
use caudal::domain::money::Money;
use caudal::ledger::store::proof::prove;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{Answer, CLABE, Client, Options, TestApp, ledger_key, refused};
use crate::stand_in::{Fault, REGISTER, StandIn};
use crate::stp::{MONDAY, app, monday, notify, pass, send, status, wait};

const SCOPE: Option<&str> = Some("ledger:operate");

/// A payment that STP refused with an error that nobody knows. Returns the transaction's id.
async fn parked(app: &TestApp, stp: &StandIn, ana: &Client) -> String {
    stp.fail_registering(Some(Fault::Code(-16)));
    let (from, to) = ana.account_and_payee().await;
    let id = ana.transfer(&from, &to, "100").await.assert_status(200).id();
    let parked = "select count(*) from rail_payment where parked_at is not null";
    wait("it is parked", async || app.count(parked).await == 1).await;
    id
}

async fn decide(ops: &Client, id: &str, action: &str) -> Answer {
    ops.post(&format!("/admin/payments/{id}/{action}"), json!({"reason": "case 4711"})).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_parked_payment_is_listed_and_decided_on(db: PgPool) {
    for (action, end, balance) in [("settle", "completed", "9900.00"), ("refuse", "failed", "10000.00")] {
        let stp = StandIn::start(MONDAY).await;
        let app = app(db.clone(), &stp).await;
        let (ana, ops) = (app.user(action), app.operator(SCOPE));
        let id = parked(&app, &stp, &ana).await;
        pass(&app, time::Duration::minutes(2)).await;
        let list = ops.get("/admin/payments").await.assert_status(200).json();
        let listed = &list["payments"][0];
        assert_eq!((&listed["transactionId"], &listed["amount"]), (&json!(id), &json!(100.0)), "{list}");
        assert_eq!((&listed["ageSeconds"], &listed["attempts"]), (&json!(120), &json!(1)));
        assert!(listed["lastError"].as_str().unwrap().contains("-16"), "{list}");
        assert_eq!((&listed["operatingDate"], listed.get("nextAttemptAt")), (&json!("2026-11-23"), None));

        let decided = decide(&ops, &id, action).await.assert_status(200).json();
        assert_eq!(decided, json!({"transactionId": id, "status": end, "changed": true}));
        assert_eq!((status(&ana).await, ana.balance().await.as_str()), (json!(end), balance));
        // A final status never changes, and nobody is to believe that it did.
        let decided = decide(&ops, &id, action).await.assert_status(200).json();
        assert_eq!(decided, json!({"transactionId": id, "status": end, "changed": false}));
        let other = if action == "settle" { "refuse" } else { "settle" };
        refused(&app, decide(&ops, &id, other), 409, "payment-ended", None).await;
        assert_eq!(ops.get("/admin/payments").await.json(), json!({"payments": []}));
        let event = "select actor, note from transfer_event where actor is not null and transfer_id = $1::uuid";
        let event: (String, String) = sqlx::query_as(event).bind(&id).fetch_one(&app.db).await.unwrap();
        assert_eq!(event, ("ops".to_owned(), "case 4711".to_owned()));
        let proof = prove(&mut app.db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
        assert!(proof.breaks.is_empty() && proof.records.complaints.is_empty());
        assert_eq!(stp.requests(REGISTER).len(), 1, "it is not sent again");
        app.stop_courier();
    }
}

/// Between proposal and approval, STP settles.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_that_has_ended_is_neither_proposed_nor_approved_otherwise(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let policy = ApprovalPolicy { lifetime: Duration::from_secs(3_600), limit: Money::from_minor(100_000) };
    let app =
        TestApp::with(db, Options { approvals: Some(policy), stp: Some((&stp).into()), ..Options::default() }).await;
    let (ana, ops, eva) = (app.user("ana"), app.operator(SCOPE), app.operator_named("eva", "ledger:operate"));
    let key = send(&ana, &stp).await;
    let id = ana.get("/api/ledger/transactions").await.json()[0]["id"].as_str().unwrap().to_owned();
    let proposed = decide(&ops, &id, "refuse").await.assert_status(202).json();
    stp.set_state("LQ", json!(null));
    notify(&app, &key, "LQ").await;
    wait("it settles", async || status(&ana).await == "completed").await;
    let approval = format!("/admin/approvals/{}/approve", proposed["id"].as_str().unwrap());
    let approved = eva.post(&approval, json!({"digest": proposed["digest"]})).await;
    assert!(approved.text.contains("It is completed"), "{approved:?}");
    approved.assert_problem(409, "payment-ended", None);
    for action in ["refuse", "settle"] {
        refused(&app, decide(&ops, &id, action), 409, "payment-ended", None).await;
    }
    assert_eq!(ana.balance().await, "9900.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_that_may_be_under_way_is_stopped_first(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let (ana, ops) = (app.user("ana"), app.operator(SCOPE));
    let key = send(&ana, &stp).await;
    let id = ana.get("/api/ledger/transactions").await.json()[0]["id"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        decide(&ops, &id, "refuse").await.assert_problem(409, "payment-under-way", None);
        pass(&app, time::Duration::seconds(25)).await;
    }
    assert_eq!(status(&ana).await, "pending");
    pass(&app, time::Duration::seconds(25)).await;
    decide(&ops, &id, "refuse").await.assert_status(200);
    assert_eq!(ana.balance().await, "10000.00");
    // STP's word comes too late.
    stp.set_state("CN", json!(null));
    notify(&app, &key, "CN").await;
    assert_eq!(ana.balance().await, "10000.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn only_ledger_operators_decide(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    let id = parked(&app, &stp, &ana).await;
    pass(&app, time::Duration::minutes(2)).await;
    for action in ["settle", "refuse"] {
        refused(&app, decide(&app.ai(), &id, action), 401, "unauthorized", None).await;
        for scope in [None, Some("models:admin rules:admin")] {
            refused(&app, decide(&app.operator(scope), &id, action), 403, "insufficient-scope", None).await;
        }
        refused(&app, decide(&ana, &id, action), 404, "not-found", None).await;
        let ops = app.operator(SCOPE);
        for nobody in ["01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", "x"] {
            refused(&app, decide(&ops, nobody, action), 404, "not-found", None).await;
        }
        let path = format!("/admin/payments/{id}/{action}");
        for reason in [json!(null), json!(" "), json!("x".repeat(501))] {
            let body = json!({"reason": reason});
            refused(&app, ops.post(&path, body), 422, "validation-failed", Some("reason")).await;
        }
    }
    app.ai().get("/admin/payments").await.assert_problem(401, "unauthorized", None);
    app.operator(None).get("/admin/payments").await.assert_problem(403, "insufficient-scope", None);
    assert_eq!(status(&ana).await, "pending");
}

/// Neither what the user typed nor the token's subject is the bank's to assert.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_sender_is_what_the_bank_vouches_for(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    // A CLABE of another bank's customer.
    let typed = ana.open_account("012180004643051249").await;
    let (issued, number) = ana.issued_account().await;
    let to = ana.save_payee("Luis", "072691004495711499").await;
    let sent = async |from: &str, count: usize| {
        ana.transfer(from, &to, "1").await.assert_status(200);
        wait("it is sent", async || stp.requests(REGISTER).len() == count).await;
        let body = stp.requests(REGISTER).pop().unwrap().body;
        (body["cuentaOrdenante"].as_str().unwrap().to_owned(), body["nombreOrdenante"].as_str().unwrap().to_owned())
    };
    assert_eq!(sent(&typed, 1).await, (CLABE.to_owned(), "ND".to_owned()));
    app.write("update app_user set holder_name = 'Ana María López' where owner = 'ana'").await;
    assert_eq!(sent(&issued, 2).await, (number, "Ana Maria Lopez".to_owned()));
}
