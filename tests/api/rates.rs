//! How often one user may ask.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request};
use caudal::auth::rates::RateLimits;
use caudal::domain::risk::Enforcement;
use futures_util::future::join_all;
use serde_json::json;
use sqlx::PgPool;
use tower::ServiceExt as _;

use crate::harness::{Options, PAYEE_CLABE, TestApp, refused};

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_user_who_asks_too_often_is_refused_alone(db: PgPool) {
    let rates = RateLimits { user: NonZeroU32::new(1), ..RateLimits::default() };
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

/// Nobody else notices a customer who changes what is recorded for good as often, and as much at once, as they can.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn one_users_changes_leave_places_and_room_to_others(db: PgPool) {
    // A third of those that may wait, as with a pool of the usual size.
    let rates = RateLimits { at_once: Some(12), ..RateLimits::default() };
    let app = TestApp::with(db, Options { rates, risk_enforcement: Enforcement::Enforce, ..Options::default() }).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = luis.account_and_payee().await;
    let payee = ana.save_payee("Zoe", PAYEE_CLABE).await;
    let before = app.count("select count(*) from audit_record").await;
    let path = format!("/api/ledger/beneficiaries/{payee}");
    let toggles = (0..3_000).map(|number| ana.patch(&path, json!({"isFavorite": number % 2 == 0})));
    let attack = async { join_all(toggles).await };
    let innocent = async {
        for _ in 0..20 {
            luis.get("/api/ledger/accounts").await.assert_status(200);
            assert_ne!(luis.transfer(&from, &to, "1").await.status, 503);
        }
    };
    let (answers, ()) = tokio::join!(attack, innocent);
    let refused = answers.iter().filter(|it| it.status == 429).count();
    assert!(refused > 2_500, "{refused}");
    assert!(app.count("select count(*) from audit_record").await - before <= 200);
    let consent = || ana.put("/api/analytics/consent", json!({"granted": true}));
    for _ in 0..50 {
        consent().await.assert_status(200);
    }
    assert_eq!(app.count("select count(*) from consent_history").await, 1, "nothing changed");
}

/// A bulk counts as many requests as it has transfers.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_bulk_counts_what_it_holds(db: PgPool) {
    let rates = RateLimits { user: NonZeroU32::new(10), ..RateLimits::default() };
    let app = TestApp::with(db, Options { rates, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let bulk = |start: u32| {
        let item = |at: u32| json!({"idempotencyKey": at.to_string(), "fromAccountId": from, "toBeneficiaryId": to, "amount": 0.01});
        json!({"transfers": (start..start + 60).map(item).collect::<Vec<_>>()})
    };
    ana.post("/api/ledger/transactions/bulk", bulk(0)).await.assert_status(200);
    let asked = Instant::now();
    refused(&app, ana.post("/api/ledger/transactions/bulk", bulk(60)), 429, "too-many-requests", None).await;
    assert!(asked.elapsed() >= Duration::from_millis(250), "a client that ignores Retry-After is slowed down");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_form_of_a_forwarded_address_escapes_the_limit(db: PgPool) {
    let rates = RateLimits { address: NonZeroU32::new(1), ..RateLimits::default() };
    let app = TestApp::with(db, Options { rates, ..Options::default() }).await;
    let forms: [&[u8]; 10] = [
        b"198.51.100.1",
        b"\xff, 198.51.100.2",
        b"198.51.100.3:5000",
        b"[2001:db8::1]:5000",
        b"unknown",
        "dirección, 198.51.100.4".as_bytes(),
        b"198.51.100.5,",
        b"",
        b"x, 198.51.100.6",
        b"\t198.51.100.7",
    ];
    for (proxy, form) in (1..).zip(forms) {
        let asked = (0..30).map(|_| {
            let request =
                Request::get("/openapi.json").header("x-forwarded-for", HeaderValue::from_bytes(form).unwrap());
            let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, proxy], 5_000)));
            app.ledger.clone().oneshot(request.extension(peer).body(Body::empty()).unwrap())
        });
        let answers = join_all(asked).await;
        let refused = answers.iter().filter(|it| it.as_ref().unwrap().status() == 429).count();
        assert!((1..=20).contains(&refused), "{}: {refused} of 30", String::from_utf8_lossy(form));
    }
}
