//! Statements, and balances at a point in time.

use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::harness::{CLABE, Client, TestApp};

/// Transfers of 1.00, 2.00, ... a minute apart. The tests start at 2026-11-21T18:00:00Z.
async fn account_with_transfers(app: &TestApp, ana: &Client, count: u32) -> String {
    let (account, payee) = ana.account_and_payee().await;
    for amount in 1..=count {
        app.clock.advance(Duration::MINUTE);
        ana.transfer(&account, &payee, &amount.to_string()).await.assert_status(200);
    }
    account
}

fn numbers(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|entry| entry["number"].as_i64().unwrap()).collect()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_statement_has_every_entry_newest_first(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let account = account_with_transfers(&app, &ana, 3).await;
    let list = ana.get(&format!("/api/ledger/accounts/{account}/entries")).await.assert_status(200).json();
    assert_eq!(numbers(&list), [4, 3, 2, 1]);
    let (newest, opening) = (&list[0], &list[3]);
    assert_eq!(
        (&newest["type"], &newest["amount"], &newest["balance"]),
        (&json!("transfer"), &json!(-3.0), &json!(9994.0))
    );
    assert_eq!(newest["beneficiaryName"], "Luis");
    assert_eq!(newest["speiReference"].as_str().unwrap().len(), 30);
    let transactions = ana.get("/api/ledger/transactions").await.json();
    assert_eq!(newest["transactionId"], transactions[0]["id"]);
    assert_eq!(
        (&opening["type"], &opening["amount"], &opening["balance"]),
        (&json!("opening"), &json!(10000.0), &json!(10000.0))
    );
    assert!(opening.get("transactionId").is_none() && opening.get("beneficiaryName").is_none(), "{opening}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn pages_continue_where_the_last_one_ended(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let account = account_with_transfers(&app, &ana, 6).await;
    let (from, to) = ("2026-11-21T18:01:00.000Z", "2026-11-21T18:06:00.000Z");
    let mut path = format!("/api/ledger/accounts/{account}/entries?limit=2&from={from}&to={to}");
    let mut pages = Vec::new();
    loop {
        let answer = ana.get(&path).await;
        pages.push(numbers(&answer.assert_status(200).json()));
        let Some(link) = answer.header("link").map(str::to_owned) else { break };
        path = link.strip_prefix('<').unwrap().split('>').next().unwrap().to_owned();
        // Entries booked meanwhile do not appear on later pages.
        app.clock.advance(Duration::MINUTE);
        let payee = ana.get("/api/ledger/beneficiaries").await.json()[0]["id"].as_str().unwrap().to_owned();
        ana.transfer(&account, &payee, "1").await.assert_status(200);
    }
    assert_eq!(pages, [vec![6, 5], vec![4, 3], vec![2]]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_balance_is_known_at_any_time(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let account = account_with_transfers(&app, &ana, 20).await;
    let list = ana.get(&format!("/api/ledger/accounts/{account}/entries")).await.json();
    let at = |at: &str| format!("/api/ledger/accounts/{account}/balance?at={at}");
    for entry in list.as_array().unwrap() {
        let answer = ana.get(&at(entry["createdAt"].as_str().unwrap())).await.assert_status(200).json();
        assert_eq!(answer["balance"], entry["balance"], "{entry}");
        assert_eq!((&answer["currency"], &answer["accountId"]), (&json!("MXN"), &json!(account)));
    }
    for (moment, balance) in [
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-11-21T17:59:59.999Z", 0.0),
        ("2026-11-21T18:00:59.999Z", 10_000.0),
        ("2026-11-21T18:01:00.001Z", 9_999.0),
        ("2026-11-21T12:01:30-06:00", 9_999.0),
        ("9999-12-31T23:59:59Z", 9_790.0),
    ] {
        assert_eq!(ana.get(&at(moment)).await.assert_status(200).json()["balance"], balance, "{moment}");
    }
    let now = ana.get(&format!("/api/ledger/accounts/{account}/balance")).await.assert_status(200).json();
    assert_eq!(now["balance"], 9_790.0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_whose_clock_is_behind_knows_the_current_balance(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let account = account_with_transfers(&app, &ana, 2).await;
    app.clock.advance(-Duration::HOUR);
    let answer = ana.get(&format!("/api/ledger/accounts/{account}/balance")).await.assert_status(200).json();
    assert_eq!((&answer["balance"], &answer["at"]), (&json!(9997.0), &json!("2026-11-21T18:02:00.000Z")));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn other_users_statements_are_not_found(db: PgPool) {
    let app = TestApp::new(db).await;
    let account = app.user("ana").open_account(CLABE).await;
    let luis = app.user("luis");
    for part in ["entries", "balance"] {
        let path = format!("/api/ledger/accounts/{account}/{part}");
        luis.get(&path).await.assert_problem(404, "not-found", None);
        app.anon().get(&path).await.assert_problem(401, "unauthorized", None);
        let unknown = format!("/api/ledger/accounts/00000000-0000-7000-8000-000000000001/{part}");
        luis.get(&unknown).await.assert_problem(404, "not-found", None);
        luis.get(&format!("/api/ledger/accounts/x/{part}")).await.assert_problem(404, "not-found", None);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_parameters_are_named(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let account = ana.open_account(CLABE).await;
    for (part, query, field) in [
        ("entries", "from=yesterday", "from"),
        ("entries", "to=2026-11-21", "to"),
        ("entries", "to=1969-12-31T23:59:59Z", "to"),
        ("entries", "limit=0", "limit"),
        ("entries", "limit=1001", "limit"),
        ("entries", "cursor=x", "cursor"),
        ("entries", "cursor=1", "cursor"),
        ("entries", "cursor=e1", "cursor"),
        ("entries", "cursor=e0_00000000-0000-0000-0000-000000000000", "cursor"),
        ("entries", "cursor=e-1_00000000-0000-0000-0000-000000000000", "cursor"),
        ("entries", "cursor=e99999999999999999999_00000000-0000-0000-0000-000000000000", "cursor"),
        ("entries", "cursor=e1_00000000-0000-0000-0000-000000000000", "cursor"),
        ("balance", "at=now", "at"),
        ("balance", "at=2026-11-21T18:00:00Z&at=2026-11-21T18:00:00Z", "at"),
    ] {
        let path = format!("/api/ledger/accounts/{account}/{part}?{query}");
        ana.get(&path).await.assert_problem(400, "validation-failed", Some(field));
    }
    let empty = ana.get(&format!("/api/ledger/accounts/{account}/entries?from=9999-01-01T00:00:00Z")).await;
    assert_eq!(empty.assert_status(200).json(), json!([]));
    let backwards = "from=2027-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&limit=5";
    let empty = ana.get(&format!("/api/ledger/accounts/{account}/entries?{backwards}")).await;
    assert_eq!(empty.assert_status(200).json(), json!([]));
}
