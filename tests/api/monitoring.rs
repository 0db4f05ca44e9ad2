//! What `/metrics` shows of money, requests and refusals.

use serde_json::Value;
use sqlx::PgPool;

use crate::harness::{Options, TestApp};
use crate::stp::{notify, sent, wait};

/// The value of a series; not a number while it is not shown.
async fn value(app: &TestApp, series: &str) -> f64 {
    let metrics = app.ai().get("/metrics").await.text;
    let shown = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    shown.map_or(f64::NAN, |shown| shown.parse().unwrap())
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn transfers_are_counted_by_what_became_of_them(db: PgPool) {
    let app = TestApp::new(db).await;
    let ana = app.user("ana").with("idempotency-key", "order-1");
    let (from, to) = ana.account_and_payee().await;
    for _ in 0..3 {
        ana.transfer(&from, &to, "100").await.assert_status(200);
    }
    let ana = app.user("ana");
    ana.transfer(&from, &to, "999999").await.assert_status(400);
    for (series, count) in [
        ("caudal_transfers_total{outcome=\"completed\",reason=\"\"}", 1.0),
        ("caudal_transfers_total{outcome=\"replayed\",reason=\"\"}", 2.0),
        ("caudal_transfers_total{outcome=\"refused\",reason=\"insufficient-funds\"}", 1.0),
        ("caudal_ledger_failures_total{cause=\"database\"}", 0.0),
        // The account, and the first transfer.
        ("caudal_ledger_batch_commands_count", 2.0),
        ("caudal_ledger_commit_seconds_count", 2.0),
        ("caudal_ledger_open", 1.0),
        ("caudal_http_problems_total{status=\"400\",code=\"rejected\"}", 1.0),
        ("caudal_http_answers_total{listener=\"ledger\",status=\"4xx\"}", 1.0),
    ] {
        assert_eq!(value(&app, series).await, count, "{series}");
    }
    let waiting = |batcher| format!("caudal_ledger_queue_commands{{batcher=\"{batcher}\"}}");
    assert_eq!(value(&app, &waiting(0)).await + value(&app, &waiting(1)).await, 0.0);
    assert!(value(&app, "caudal_pool_connections{state=\"most\"}").await >= 1.0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn refusals_are_counted_by_their_reason(db: PgPool) {
    let app = TestApp::with(db, Options::default()).await;
    let accounts = "/api/ledger/accounts";
    app.anon().get(accounts).await.assert_status(401);
    app.anon().with("authorization", "Bearer a.b.c").get(accounts).await.assert_status(401);
    app.operator(Some("models:admin")).get("/admin/payments").await.assert_status(403);
    app.ai().with("host", "elsewhere.example").get("/metrics").await.assert_status(421);
    for (event, reason) in [
        ("token_refused", "missing"),
        ("token_refused", "malformed"),
        ("scope_refused", "ledger:operate"),
        ("host_refused", "name"),
    ] {
        let series = format!("caudal_refusals_total{{event=\"{event}\",reason=\"{reason}\"}}");
        assert_eq!(value(&app, &series).await, 1.0, "{series}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn parked_payments_and_contradictions_are_shown(db: PgPool) {
    let (stp, app, _, key) = sent(db).await;
    stp.set_state("RB", Value::Null);
    wait("it is parked", async || {
        // Until the next attempt is due, however late the first one was.
        app.clock.advance(time::Duration::seconds(5));
        value(&app, "caudal_payments{state=\"parked\"}").await == 1.0
    })
    .await;
    assert!(value(&app, "caudal_payments_oldest_timestamp_seconds").await > 0.0);
    assert!(value(&app, "caudal_rail_answers_total{answer=\"undecided\"}").await >= 1.0);
    for (state, count) in [("CN", 0.0), ("LQ", 1.0)] {
        stp.set_state(state, Value::Null);
        app.clock.advance(time::Duration::minutes(1));
        notify(&app, &key, state).await;
        let series = "caudal_rail_contradictions_total{report=\"settled\"}";
        wait("it is booked", async || {
            let failed = value(&app, "caudal_transfers_total{outcome=\"failed\",reason=\"\"}").await;
            failed == 1.0 && value(&app, series).await == count
        })
        .await;
    }
    wait("none is pending", async || value(&app, "caudal_payments{state=\"parked\"}").await == 0.0).await;
    notify(&app, "UNKNOWN1", "LQ").await;
    let unknown = "caudal_refusals_total{event=\"notice_refused\",reason=\"unknown-payment\"}";
    assert_eq!(value(&app, unknown).await, 1.0);
}
