//! Transfer limits: the default and a user's own, applied by the active rules. Replays are exempt.

use caudal::domain::money::Money;
use caudal::ledger::batch::Terms;
use serde_json::json;
use sqlx::PgPool;
use time::Duration;

use crate::harness::{CLABE, Client, Options, PAYEE_CLABE, TestApp, refused};
use crate::rules::deploy_hostile;

async fn app(db: PgPool, per_transfer: Option<i64>, per_day: Option<i64>) -> TestApp {
    let terms = Terms {
        per_transfer_limit: per_transfer.map(Money::from_minor),
        per_day_limit: per_day.map(Money::from_minor),
        ..Terms::OPEN
    };
    TestApp::with(db, Options { terms, ..Options::default() }).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn there_are_no_limits_by_default(db: PgPool) {
    let (_app, ana, from, to) = TestApp::ready(db).await;
    ana.transfer(&from, &to, "10000").await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_users_own_limits_replace_the_default(db: PgPool) {
    let app = app(db, Some(10_000), Some(25_000)).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = ana.account_and_payee().await;
    refused(&app, ana.transfer(&from, &to, "100.01"), 400, "limit-exceeded", None).await;
    for _ in 0..2 {
        ana.transfer(&from, &to, "100").await.assert_status(200);
    }
    let terms = async |user: &Client| user.get("/api/ledger/terms").await.assert_status(200).json();
    let want = json!({"perTransfer": 100.0, "perDay": 250.0, "sentToday": 200.0, "leftToday": 50.0, "coolingSeconds": 0,
        "riskEnforced": false, "clabeInstitution": "999"});
    assert_eq!(terms(&ana).await, want);
    refused(&app, ana.transfer(&from, &to, "50.01"), 400, "limit-exceeded", None).await;
    // Another account of hers shares the limit.
    let other = ana.open_account("2").await;
    refused(&app, ana.transfer(&other, &to, "50.01"), 400, "limit-exceeded", None).await;
    ana.transfer(&other, &to, "50").await.assert_status(200);
    let (theirs, payee) = luis.account_and_payee().await;
    app.write("update app_user set per_transfer_limit = 5000, per_day_limit = 900000 where owner = 'luis'").await;
    refused(&app, luis.transfer(&theirs, &payee, "50.01"), 400, "limit-exceeded", None).await;
    assert_eq!((&terms(&luis).await["perDay"], &terms(&luis).await["leftToday"]), (&json!(9_000.0), &json!(9_000.0)));
    for _ in 0..8 {
        luis.transfer(&theirs, &payee, "50").await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_day_starts_at_midnight_in_mexico_city(db: PgPool) {
    let app = app(db, None, Some(10_000)).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    ana.transfer(&from, &to, "100").await.assert_status(200);
    // It is noon there; midnight is 06:00 UTC.
    app.clock.advance(Duration::hours(12) - Duration::MILLISECOND);
    refused(&app, ana.transfer(&from, &to, "0.01"), 400, "limit-exceeded", None).await;
    app.clock.advance(Duration::MILLISECOND);
    ana.transfer(&from, &to, "100").await.assert_status(200);
    refused(&app, ana.transfer(&from, &to, "0.01"), 400, "limit-exceeded", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_daily_limit_holds_across_accounts_and_hosts(db: PgPool) {
    let (one, two) = (app(db.clone(), None, Some(5_000)).await, app(db.clone(), None, Some(5_000)).await);
    let ana = one.user("ana");
    let to = ana.save_payee("Luis", PAYEE_CLABE).await;
    let mut accounts = Vec::new();
    for number in 0..4 {
        accounts.push(ana.open_account(&format!("{number}1")).await);
    }
    let mut sent = tokio::task::JoinSet::new();
    for turn in 0..40 {
        let client = if turn % 2 == 0 { one.user("ana") } else { two.user("ana") };
        let (from, to) = (accounts[turn % 4].clone(), to.clone());
        sent.spawn(async move { client.transfer(&from, &to, "3").await.status.as_u16() });
    }
    let mut accepted = 0;
    while let Some(status) = sent.join_next().await {
        let status = status.unwrap();
        assert!(status == 200 || status == 400, "{status}");
        accepted += i32::from(status == 200);
    }
    assert_eq!(accepted, 16);
    assert_eq!(one.count("select sum(sent)::bigint from account_balance").await, 4_800);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn other_rules_make_other_limits(db: PgPool) {
    let app = app(db.clone(), Some(10_000), None).await;
    let _follower = app.follow().await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    refused(&app, ana.transfer(&from, &to, "100.01"), 400, "limit-exceeded", None).await;
    // These allow everything but 6.66.
    deploy_hostile(&app, &db).await;
    ana.transfer(&from, &to, "100.01").await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_retry_replays_after_limits_balance_and_payee_changed(db: PgPool) {
    let app = app(db, None, None).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let itself = |key: &str| ana.with("idempotency-key", key);
    let first = itself("sent").transfer(&from, &to, "6000").await;
    let no = itself("refused").transfer(&from, &to, "6000").await;
    first.assert_status(200);
    no.assert_problem(400, "insufficient-funds", None);
    let before = app.rows().await;
    let assert_same = async |key: &str, first: &crate::harness::Answer| {
        let again = itself(key).transfer(&from, &to, "6000").await;
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{again:?}");
        assert_eq!(again.status, first.status);
        let (mut now, mut then) = (again.json(), first.json());
        (now["requestId"], then["requestId"]) = (json!(null), json!(null));
        assert_eq!(now, then);
    };
    // First the balance is spent, then a limit is set, then the payee is deleted.
    assert_same("sent", &first).await;
    assert_same("refused", &no).await;
    assert_eq!(app.rows().await, before);
    sqlx::query("update app_user set per_transfer_limit = 1, per_day_limit = 1").execute(&app.db).await.unwrap();
    assert_same("sent", &first).await;
    assert_same("refused", &no).await;
    ana.delete(&format!("/api/ledger/beneficiaries/{to}")).await.assert_status(204);
    assert_same("sent", &first).await;
    assert_same("refused", &no).await;
}

/// One person can neither use up the bank's numbers nor fill the tables of payees.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_user_has_a_thousand_accounts_and_ten_thousand_payees_at_most(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    ana.open_account(CLABE).await;
    let accounts = "insert into account (account_id, owner, account_number, number_key, account_type, currency, created_at, kind,
            chain_id, seq)
        select gen_random_uuid(), 'ana', n::text, n::text, 'checking', 'MXN', now(), 'customer', gen_random_uuid(), 0 from generate_series(2, 1000) n";
    let payees = "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at)
        select gen_random_uuid(), 'ana', 'Luis', 'BBVA', n::text, now() from generate_series(1, 9999) n";
    for fill in [accounts, payees] {
        sqlx::query(fill).execute(&app.db).await.unwrap();
    }
    let payee = json!({"name": "Luis", "accountNumber": PAYEE_CLABE, "bankName": "BBVA"});
    ana.post("/api/ledger/beneficiaries", payee.clone()).await.assert_status(201);
    refused(&app, ana.post("/api/ledger/beneficiaries", payee), 409, "limit-reached", None).await;
    let account = json!({"accountType": "checking"});
    refused(&app, ana.post("/api/ledger/accounts", account.clone()), 409, "limit-reached", None).await;
    app.user("luis").post("/api/ledger/accounts", account).await.assert_status(201);
}
