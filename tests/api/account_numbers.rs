//! Account numbers: issued from the bank's range, or typed in a sandbox.

use std::collections::BTreeSet;

use caudal::domain::clabe::{Clabe, ClabeRange, SANDBOX_RANGE};
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{CLABE, Options, TestApp, refused};

const PATH: &str = "/api/ledger/accounts";

fn range(text: &str) -> Option<ClabeRange> {
    Some(text.parse().unwrap())
}

/// A host in production: numbers are issued from this range, and none may be typed.
async fn issuing(db: PgPool, clabe_range: Option<ClabeRange>) -> TestApp {
    TestApp::with(db, Options { clabe_range, typed_numbers: false, ..Options::default() }).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn issued_numbers_are_valid_clabes_of_the_range_and_unique(db: PgPool) {
    let app = issuing(db, Some(SANDBOX_RANGE)).await;
    let mut numbers = BTreeSet::new();
    for user in ["ana", "luis"] {
        for _ in 0..10 {
            let (id, number) = app.user(user).issued_account().await;
            let clabe = Clabe::read(&number).expect("a CLABE with a valid check digit");
            assert_eq!((clabe.to_string(), number.len()), (number.clone(), 18));
            assert!((SANDBOX_RANGE.first()..=SANDBOX_RANGE.last()).contains(&clabe), "{number}");
            let shown = app.user(user).get(&format!("{PATH}/{id}")).await.assert_status(200).json();
            assert_eq!(shown["accountNumber"], number);
            assert!(numbers.insert(number));
        }
    }
    assert_eq!(app.count("select count(*) from account where issued is not null").await, 20);
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_range_is_used_to_its_last_number(db: PgPool) {
    let app = issuing(db, range("64618011040000000-64618011040000002")).await;
    let mut numbers = BTreeSet::new();
    for user in ["ana", "luis", "ana"] {
        numbers.insert(app.user(user).issued_account().await.1);
    }
    assert_eq!(numbers.len(), 3);
    assert!(numbers.contains(CLABE));
    let eva = app.user("eva");
    refused(&app, eva.post(PATH, json!({"accountType": "checking"})), 503, "no-account-numbers", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn concurrent_requests_share_the_last_numbers(db: PgPool) {
    let app = issuing(db, range("64618011040000000-64618011040000002")).await;
    let mut open = tokio::task::JoinSet::new();
    for turn in 0..6 {
        let client = app.user(&format!("user{turn}"));
        open.spawn(async move { client.post(PATH, json!({"accountType": "checking"})).await });
    }
    let mut statuses: Vec<_> = open.join_all().await.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 503, 503, 503]);
    assert_eq!(app.count("select count(distinct issued) from account").await, 3);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_typed_number_is_refused_outside_a_sandbox(db: PgPool) {
    let app = issuing(db, Some(SANDBOX_RANGE)).await;
    let ana = app.user("ana");
    let typed = json!({"accountNumber": CLABE, "accountType": "checking"});
    let sent = ana.post(PATH, typed.clone()).await;
    assert!(sent.text.contains("--sandbox"), "{sent:?}");
    refused(&app, ana.post(PATH, typed), 400, "validation-failed", Some("accountNumber")).await;
    let both = ana.post(PATH, json!({"accountNumber": CLABE})).await;
    both.assert_problem(400, "validation-failed", Some("accountNumber"));
    both.assert_problem(400, "validation-failed", Some("accountType"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn without_a_range_no_account_is_opened(db: PgPool) {
    let app = issuing(db, None).await;
    let ana = app.user("ana");
    let open = || ana.post(PATH, json!({"accountNumber": null, "accountType": "checking"}));
    assert!(open().await.text.contains("--clabe-range"));
    refused(&app, open(), 503, "no-account-numbers", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn in_a_sandbox_a_number_may_be_typed_or_issued(db: PgPool) {
    let app =
        TestApp::with(db, Options { clabe_range: range("64618011040000000-64618011040000001"), ..Options::default() })
            .await;
    let ana = app.user("ana");
    ana.open_account(CLABE).await;
    // The number that she typed is not issued to her a second time, but it is still free for others.
    let (_, number) = ana.issued_account().await;
    assert_ne!(number, CLABE);
    assert_eq!(app.user("luis").issued_account().await.1, CLABE);
    assert_eq!(app.count("select count(*) from account where issued is null and kind = 'customer'").await, 1);
}
