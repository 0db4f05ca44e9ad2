//! More than the host can do: what would wait for long is refused at once, has done nothing, and the host recovers.

use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{Request, header};
use caudal::db::connections::WAITING_EACH_MAX;
use caudal::domain::money::Money;
use caudal::gate::pushes::ARRIVING_MAX;
use futures_util::stream;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use crate::harness::{Client, Options, PAYEE_CLABE, TestApp, refused};

/// Far longer than a refusal takes, and shorter than any wait that it spares.
const AT_ONCE: Duration = Duration::from_millis(500);

/// Reads that run or wait: of five connections, requests may use two.
const MOST_READS: usize = 2 + 2 * WAITING_EACH_MAX;

/// Replays at once.
const REPLAYS: usize = 2;

/// Reads that wait leave connections to money.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn more_reads_than_there_are_connections_for_are_refused(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = ana.account_and_payee().await;
    let mut lock = db.begin().await.unwrap();
    sqlx::query("lock table profile in access exclusive mode").execute(&mut *lock).await.unwrap();
    let mut reads = JoinSet::new();
    for _ in 0..MOST_READS + 10 {
        let luis = luis.clone();
        reads.spawn(async move { luis.get("/api/profile/accessibility").await });
    }
    for _ in 0..10 {
        let answer = tokio::time::timeout(AT_ONCE, reads.join_next()).await.expect("refused at once").unwrap().unwrap();
        answer.assert_problem(503, "overloaded", None);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    ana.transfer(&from, &to, "1").await.assert_status(200);
    app.operator(Some("models:admin")).get("/admin/models").await.assert_status(200);
    for path in ["/livez", "/readyz"] {
        app.anon().get(path).await.assert_status(200);
    }
    lock.rollback().await.unwrap();
    while let Some(answer) = reads.join_next().await {
        answer.unwrap().assert_status(200);
    }
    luis.get("/api/profile/accessibility").await.assert_status(200);
}

/// Lists that wait for a table do not wait behind each other without end.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn more_lists_than_may_wait_are_refused(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let paid = ana.transfer(&from, &to, "1").await.assert_status(200).json();
    let mut lock = db.begin().await.unwrap();
    sqlx::query("lock table transfer in access exclusive mode").execute(&mut *lock).await.unwrap();
    let mut reads = JoinSet::new();
    for number in 0..MOST_READS + 10 {
        let user = if number == 0 { ana.clone() } else { app.user(&format!("user-{}", number % 20)) };
        reads.spawn(async move { (number, user.get("/api/ledger/transactions").await) });
    }
    for _ in 0..10 {
        let answer = tokio::time::timeout(AT_ONCE, reads.join_next()).await.expect("refused at once").unwrap();
        answer.unwrap().1.assert_problem(503, "overloaded", None);
    }
    lock.rollback().await.unwrap();
    while let Some(answer) = reads.join_next().await {
        let (number, answer) = answer.unwrap();
        let known = if number == 0 { json!([paid]) } else { json!([]) };
        assert_eq!(answer.assert_status(200).json(), known, "{number}");
    }
}

/// A request whose body does not come, and breaks off when the sender is dropped, as it does with its connection.
fn unfinished(client: &Client, path: &str, content_type: &str) -> (Request<Body>, oneshot::Sender<()>) {
    let (connection, closed) = oneshot::channel();
    let body = Body::from_stream(stream::once(async move {
        let _ = closed.await;
        Err::<Bytes, _>(std::io::Error::from(std::io::ErrorKind::ConnectionAborted))
    }));
    let request = Request::post(path).header(header::CONTENT_TYPE, content_type);
    let request = client.headers.iter().fold(request, |request, (name, value)| request.header(name.as_str(), value));
    (request.body(body).unwrap(), connection)
}

/// Sends so many that never end, and then one more, which `status` answers once they are gone.
async fn fill(app: &TestApp, client: &Client, (path, content_type): (&str, &str), count: usize) {
    let (mut held, mut connections) = (JoinSet::new(), Vec::new());
    for _ in 0..count {
        let (request, connection) = unfinished(client, path, content_type);
        held.spawn(app.assist.clone().oneshot(request));
        connections.push(connection);
    }
    let nothing = tokio::time::timeout(AT_ONCE, held.join_next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    let (request, _connection) = unfinished(client, path, content_type);
    let more = app.assist.clone().oneshot(request);
    // A client that sends slowly keeps its answer waiting for as long.
    let answer = tokio::time::timeout(AT_ONCE * 4, more).await.expect("refused at once").unwrap();
    assert_eq!((answer.status().as_u16(), &answer.headers()[header::RETRY_AFTER]), (503, &"1".parse().unwrap()));
    drop(connections);
    while held.join_next().await.is_some() {}
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_few_components_arrive_at_once(db: PgPool) {
    let app = TestApp::new(db).await;
    let ops = app.operator(Some("models:admin"));
    fill(&app, &ops, ("/admin/models/nudge/versions", "application/wasm"), ARRIVING_MAX).await;
    refused(
        &app,
        ops.send("POST", "/admin/models/nudge/versions", Some("application/wasm"), Body::from("x")),
        422,
        "component-refused",
        None,
    )
    .await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_few_replays_run_at_once(db: PgPool) {
    let app = TestApp::new(db).await;
    let ops = app.operator(Some("models:admin rules:admin"));
    fill(&app, &ops, ("/admin/replay", "application/json"), REPLAYS).await;
    ops.post("/admin/replay", json!({"kind": "risk", "days": 1, "limit": 1})).await.assert_status(200);
}

/// A user without money cannot fill the table of keys; what was answered is still replayed, and what can be made is
/// made.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn refusals_are_kept_within_limits(db: PgPool) {
    let app = TestApp::with(db, Options { opening_credit: Money::from_minor(100), ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let transfer =
        |key: String| json!({"idempotencyKey": key, "fromAccountId": from, "toBeneficiaryId": to, "amount": 9});
    let bulk = json!({"transfers": (0..1_000).map(|number| transfer(number.to_string())).collect::<Vec<_>>()});
    let results = ana.post("/api/ledger/transactions/bulk", bulk).await.assert_status(200).json()["results"].take();
    let is_refused = |result: &Value| result["problem"]["code"] == "insufficient-funds";
    assert!(results.as_array().unwrap().iter().all(is_refused));
    let kept = async || app.count("select count(*) from idempotency").await;
    assert_eq!(kept().await, 1_000);
    let keyed = |key: &str| ana.with("idempotency-key", key);
    let sixth = keyed("another").transfer(&from, &to, "9").await;
    assert_eq!(sixth.header("retry-after"), Some("10"));
    refused(&app, keyed("another").transfer(&from, &to, "9"), 429, "too-many-requests", None).await;
    let hold = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 9});
    refused(&app, keyed("hold").post("/api/ledger/holds", hold), 429, "too-many-requests", None).await;
    let replayed = keyed("7").transfer(&from, &to, "9").await;
    replayed.assert_problem(400, "insufficient-funds", Some("amount"));
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
    ana.transfer(&from, &to, "9").await.assert_problem(400, "insufficient-funds", Some("amount"));
    // The key is still free, and what the account covers is not refused.
    keyed("another").transfer(&from, &to, "0.50").await.assert_status(200);
    app.user("luis").open_account("1").await;
    assert_eq!(kept().await, 1_001);
    app.clock.advance(time::Duration::seconds(10));
    keyed("later").transfer(&from, &to, "9").await.assert_problem(400, "insufficient-funds", Some("amount"));
    refused(&app, keyed("soon").transfer(&from, &to, "9"), 429, "too-many-requests", None).await;
    assert_eq!(kept().await, 1_002);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_full_queue_of_the_ledger_answers_before_the_body(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    // Each user's orders have one of the queues.
    let mut accounts = Vec::new();
    for number in 0..32 {
        let user = app.user(&format!("user {number}"));
        let (from, to) = (user.open_account("1").await, user.save_payee("Luis", PAYEE_CLABE).await);
        accounts.push((user, from, to));
    }
    let mut holder = app.db.begin().await.unwrap();
    sqlx::query("select from account_balance for update").execute(&mut *holder).await.unwrap();
    let mut sent = JoinSet::new();
    // The batchers take some of the first ones, which leaves room for the second ones.
    for turn in 0..4_000 {
        let (user, from, to) = accounts[turn % accounts.len()].clone();
        sent.spawn(async move {
            tokio::time::sleep(AT_ONCE * u32::from(turn >= 2_000)).await;
            user.transfer(&from, &to, "1").await
        });
    }
    tokio::time::sleep(AT_ONCE * 3).await;
    let begun = Instant::now();
    let (unread, _connection) = unfinished(&ana, "/api/ledger/transactions", "application/json");
    let answer = app.ledger.clone().oneshot(unread).await.unwrap();
    assert_eq!(answer.status(), 503);
    assert!(begun.elapsed() < AT_ONCE * 4, "{:?}", begun.elapsed());
    app.anon().get("/livez").await.assert_status(200);
    holder.rollback().await.unwrap();
    let made = sent.join_all().await.into_iter().filter(|answer| answer.status == 200).count();
    assert_eq!(app.count("select count(*) from transfer where kind = 'spei'").await, made as i64);
    let (user, from, to) = &accounts[0];
    user.transfer(from, to, "1").await.assert_status(200);
}
