//! How often one user may ask.

use std::num::NonZeroU32;

use caudal::auth::rates::RateLimits;
use futures_util::future::join_all;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{CLABE, Options, PAYEE_CLABE, TestApp, refused};

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_user_who_asks_too_often_is_refused_alone(db: PgPool) {
    let rates = RateLimits { user: NonZeroU32::new(1), address: None };
    let app = TestApp::with(db, Options { rates, ..Options::default() }).await;
    let (greedy, quiet) = (app.user("ana"), app.user("luis"));
    let open = |number: u32| {
        let client = greedy.clone();
        async move {
            let body = json!({"accountNumber": number.to_string(), "accountType": "x"});
            client.post("/api/ledger/accounts", body).await
        }
    };
    let answers = join_all((0..60).map(open)).await;
    let (opened, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
    assert!(opened.len() >= 10 && !refused.is_empty(), "{} opened", opened.len());
    for answer in refused {
        answer.assert_problem(429, "too-many-requests", None);
        assert!(answer.header("retry-after").is_some());
    }
    let accounts = app.count("select count(*) from account where owner = 'ana'").await;
    assert_eq!(accounts, opened.len() as i64);
    assert_eq!(quiet.get("/api/ledger/accounts").await.status, 200);
}

/// A bulk counts as many requests as it has transfers.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_bulk_counts_what_it_holds(db: PgPool) {
    let rates = RateLimits { user: NonZeroU32::new(10), address: None };
    let app = TestApp::with(db, Options { rates, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = (ana.open_account(CLABE).await, ana.save_payee("Luis", PAYEE_CLABE).await);
    let bulk = |start: u32| {
        let item = |at: u32| json!({"idempotencyKey": at.to_string(), "fromAccountId": from, "toBeneficiaryId": to, "amount": 0.01});
        json!({"transfers": (start..start + 60).map(item).collect::<Vec<_>>()})
    };
    ana.post("/api/ledger/transactions/bulk", bulk(0)).await.assert_status(200);
    refused(&app, ana.post("/api/ledger/transactions/bulk", bulk(60)), 429, "too-many-requests", None).await;
}
