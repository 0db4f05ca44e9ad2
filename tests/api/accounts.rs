//! `/api/ledger/accounts`

use caudal::domain::money::Money;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{CLABE, Options, TestApp, refused};

const PATH: &str = "/api/ledger/accounts";

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_created_account_is_returned_and_listed(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    assert_eq!(ana.get(PATH).await.assert_status(200).json(), json!([]));

    let created = ana.post(PATH, json!({"accountNumber": CLABE, "accountType": "checking"})).await;
    created.assert_status(201);
    let account = created.json();
    let id = account["id"].as_str().unwrap();
    assert_eq!(created.header("location"), Some(format!("{PATH}/{id}").as_str()));
    let want =
        json!({"id": id, "accountNumber": CLABE, "accountType": "checking", "balance": 10_000.0, "currency": "MXN"});
    assert_eq!(account, want);
    assert!(created.text.contains("\"balance\":10000.00"), "two decimals: {}", created.text);

    assert_eq!(ana.get(PATH).await.assert_status(200).json(), json!([account]));
    assert_eq!(ana.get(&format!("{PATH}/{id}")).await.assert_status(200).json(), account);
    for nothing in ["x", "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", &caudal::ledger::FUNDING_ACCOUNT.to_string()] {
        refused(&app, ana.get(&format!("{PATH}/{nothing}")), 404, "not-found", None).await;
    }
    let luis = app.user("luis");
    refused(&app, luis.get(&format!("{PATH}/{id}")), 404, "not-found", None).await;
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn without_a_sandbox_an_account_opens_empty(db: PgPool) {
    let app = TestApp::with(db, Options { opening_credit: Money::ZERO, ..Options::default() }).await;
    let ana = app.user("ana");
    ana.open_account(CLABE).await;
    assert_eq!(ana.balance().await, "0.00");
    assert_eq!(app.count("select count(*) from entry").await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn types_have_up_to_forty_characters_and_the_currency_is_the_peso(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    for (number, kind, currency) in [
        ("1", "ñ".repeat(40), json!("MXN")),
        ("2", "nómina".into(), Value::Null),
        ("not a CLABE", "x".into(), json!("MXN")),
    ] {
        let body =
            json!({"accountNumber": number, "accountType": kind, "currency": currency, "balance": 5, "color": "red"});
        let account = ana.post(PATH, body).await.assert_status(201).json();
        assert_eq!((&account["accountType"], &account["balance"]), (&json!(kind), &json!(10_000.0)));
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_accounts_are_refused_and_change_nothing(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    for (body, field) in [
        (json!({"accountNumber": CLABE}), "accountType"),
        (json!({"accountNumber": 646_180, "accountType": "checking"}), "accountNumber"),
        (json!({"accountNumber": " \t", "accountType": "checking"}), "accountNumber"),
        (json!({"accountNumber": "-- -", "accountType": "checking"}), "accountNumber"),
        (json!({"accountNumber": "\u{200b}", "accountType": "checking"}), "accountNumber"),
        (json!({"accountNumber": "1\u{0}2", "accountType": "checking"}), "accountNumber"),
        (json!({"accountNumber": "1".repeat(51), "accountType": "checking"}), "accountNumber"),
        (json!({"accountNumber": CLABE, "accountType": ""}), "accountType"),
        (json!({"accountNumber": CLABE, "accountType": "t".repeat(41)}), "accountType"),
        (json!({"accountNumber": CLABE, "accountType": "checking", "currency": "USD"}), "currency"),
        (json!({"accountNumber": CLABE, "accountType": "checking", "currency": 1}), "currency"),
        (json!([]), ""),
        (json!("text"), ""),
    ] {
        refused(&app, ana.post(PATH, body), 400, "validation-failed", Some(field)).await;
    }
    let both = ana.post(PATH, json!({"accountNumber": 1})).await;
    both.assert_problem(400, "validation-failed", Some("accountNumber"));
    both.assert_problem(400, "validation-failed", Some("accountType"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_number_is_taken_only_for_its_owner(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let body = json!({"accountNumber": CLABE, "accountType": "checking"});
    ana.post(PATH, body.clone()).await.assert_status(201);
    refused(&app, ana.post(PATH, body.clone()), 409, "account-exists", Some("accountNumber")).await;
    let spelled = json!({"accountNumber": "6461-8011 0400 0000 07", "accountType": "savings"});
    refused(&app, ana.post(PATH, spelled), 409, "account-exists", Some("accountNumber")).await;
    // A conflict across users would reveal that the number is a customer's.
    luis.post(PATH, body).await.assert_status(201);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn concurrent_requests_for_one_number_open_one_account(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let tries = (0..10).map(|_| {
        let ana = ana.clone();
        tokio::spawn(async move { ana.post(PATH, json!({"accountNumber": CLABE, "accountType": "checking"})).await })
    });
    let mut statuses = Vec::new();
    for attempt in tries.collect::<Vec<_>>() {
        statuses.push(attempt.await.unwrap().status.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![201], vec![409; 9]].concat());
    assert_eq!(ana.balance().await, "10000.00");
}
