//! Payments through STP, whose notices anybody could forge: what the host asks STP after one, and what it books.

use std::time::{Duration, Instant};

use axum::body::Body;
use caudal::rail::courier::CLAIM;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::macros::datetime;

use crate::harness::{Client, Options, TestApp};
use crate::stand_in::{Fault, INQUIRE, REGISTER, StandIn};

/// The operating date at the tests' noon, a Saturday.
pub(crate) const MONDAY: &str = "20261123";

pub(crate) async fn app(db: PgPool, stp: &StandIn) -> TestApp {
    TestApp::with(db, Options { stp: Some(stp.into()), ..Options::default() }).await
}

/// At STP on a Monday, with a user.
pub(crate) async fn monday(db: PgPool) -> (StandIn, TestApp, Client) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let ana = app.user("ana");
    (stp, app, ana)
}

/// The same, after she sent 100.00; and the tracking key.
pub(crate) async fn sent(db: PgPool) -> (StandIn, TestApp, Client, String) {
    let (stp, app, ana) = monday(db).await;
    let key = send(&ana, &stp).await;
    (stp, app, ana, key)
}

/// The same, once it has settled.
pub(crate) async fn settled(db: PgPool) -> (StandIn, TestApp, Client, String) {
    let (stp, app, ana, key) = sent(db).await;
    stp.set_state("LQ", Value::Null);
    notify(&app, &key, "LQ").await;
    wait("it settles", async || status(&ana).await == "completed").await;
    (stp, app, ana, key)
}

/// Sends 100.00, and waits until STP has the order. Returns the tracking key.
pub(crate) async fn send(ana: &Client, stp: &StandIn) -> String {
    let (from, to) = ana.account_and_payee().await;
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).json();
    wait("STP has the order", async || stp.orders().len() == 1).await;
    sent["speiReference"].as_str().unwrap().to_owned()
}

pub(crate) async fn wait(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        // A thousand events of one account, one after the other, take 20 s on a machine that tests share.
        assert!(start.elapsed() < Duration::from_secs(60), "not yet: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn wait_for_inquiries(stp: &StandIn, count: usize) {
    wait("the courier asks", async || stp.requests(INQUIRE).len() >= count).await;
    // What was answered is booked.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

/// Moves the clock on, once the courier is through with what it claimed: its claims end by the same clock.
pub(crate) async fn pass(app: &TestApp, time: time::Duration) {
    let claimed = "select (select count(*) from rail_payment where due_at = $1 and parked_at is null)
        + (select count(*) from rail_order where inquire_at = $1)";
    let until = app.clock.now() + CLAIM;
    wait("nothing is claimed", async || {
        sqlx::query_scalar::<_, i64>(claimed).bind(until).fetch_one(&app.db).await.unwrap() == 0
    })
    .await;
    app.clock.advance(time);
}

pub(crate) async fn status(ana: &Client) -> Value {
    ana.get("/api/ledger/transactions?limit=1").await.json()[0]["status"].clone()
}

pub(crate) async fn notify(app: &TestApp, tracking_key: &str, state: &str) {
    let notice = json!({"claveRastreo": tracking_key, "estado": state, "causaDevolucion": 1});
    app.ai().post("/rails/stp/state", notice).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_forged_cancellation_moves_no_money(db: PgPool) {
    let (stp, app, ana, key) = sent(db).await;
    notify(&app, &key, "CN").await;
    wait_for_inquiries(&stp, 1).await;
    assert_eq!((status(&ana).await, ana.balance().await.as_str()), (json!("pending"), "9900.00"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_order_carries_what_the_sender_tells_the_payee(db: PgPool) {
    let (stp, _app, ana) = monday(db).await;
    let (from, to) = ana.account_and_payee().await;
    let body = json!({
        "fromAccountId": from, "toBeneficiaryId": to, "amount": 1, "concept": "Renta, año 2026", "numericReference": 202_611,
    });
    ana.post("/api/ledger/transactions", body).await.assert_status(200);
    wait("STP has the order", async || stp.orders().len() == 1).await;
    let order = &stp.requests(REGISTER)[0].body;
    assert_eq!((&order["conceptoPago"], &order["referenciaNumerica"]), (&json!("Renta ano 2026"), &json!(202_611)));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_forged_return_moves_no_money(db: PgPool) {
    let (stp, app, ana, key) = sent(db).await;
    stp.set_state("LQ", Value::Null);
    notify(&app, &key, "LIQUIDACION").await;
    wait("it settles", async || status(&ana).await == "completed").await;
    pass(&app, time::Duration::minutes(1)).await;
    notify(&app, &key, "D").await;
    wait_for_inquiries(&stp, 2).await;
    assert_eq!((status(&ana).await, ana.balance().await.as_str()), (json!("completed"), "9900.00"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_stp_answers_is_booked_whatever_the_notice_says(db: PgPool) {
    let (stp, app, ana, key) = sent(db).await;
    stp.set_state("LQ", Value::Null);
    // A state that the host does not know, and none at all.
    notify(&app, &key, "CONFIRMADA").await;
    wait("it settles", async || status(&ana).await == "completed").await;
    stp.set_state("D", json!(16));
    pass(&app, time::Duration::minutes(1)).await;
    app.ai().put("/rails/stp/state", json!({"folioOrigen": key})).await.assert_status(200);
    wait("it returns", async || ana.balance().await == "10000.00").await;
    pass(&app, time::Duration::minutes(1)).await;
    notify(&app, &key, "D").await;
    wait_for_inquiries(&stp, 3).await;
    assert_eq!(ana.balance().await, "10000.00", "once");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_notice_about_a_payment_of_another_rail_is_ignored(db: PgPool) {
    let instant = TestApp::new(db.clone()).await;
    let ana = instant.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).json();
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    for key in [sent["speiReference"].as_str().unwrap(), "CAUD0"] {
        notify(&app, key, "D").await;
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!((stp.requests(INQUIRE).len(), ana.balance().await.as_str()), (0, "9900.00"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_page_cannot_post_a_notice(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let key = send(&app.user("ana"), &stp).await;
    let notice = json!({"claveRastreo": key, "estado": "CN"}).to_string();
    for kind in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("multipart/form-data")] {
        let answer = app.ai().send("POST", "/rails/stp/state", kind, Body::from(notice.clone())).await;
        answer.assert_problem(415, "unsupported-media-type", None);
    }
    let tagged = Some("application/json; charset=utf-8");
    app.ai().send("POST", "/rails/stp/state", tagged, Body::from(notice)).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_flood_of_notices_is_one_inquiry(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let key = send(&app.user("ana"), &stp).await;
    // A pending payment is also asked about without a notice.
    stp.set_state("LQ", Value::Null);
    notify(&app, &key, "LIQUIDACION").await;
    wait_for_inquiries(&stp, 1).await;
    for _ in 0..100 {
        notify(&app, &key, "LIQUIDACION").await;
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(stp.requests(INQUIRE).len(), 1);
    // The order may have changed since the answer, so it asks once more.
    pass(&app, time::Duration::seconds(11)).await;
    wait_for_inquiries(&stp, 2).await;
    assert_eq!(stp.requests(INQUIRE).len(), 2);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_has_the_operating_date_at_which_it_is_sent(db: PgPool) {
    let stp = StandIn::start("20261124").await;
    let made = app(db.clone(), &stp).await;
    made.stop_courier();
    let six = datetime!(2026-11-24 00:00 UTC);
    made.clock.advance(six - made.clock.now() - time::Duration::SECOND);
    let ana = made.user("ana");
    let (from, to) = ana.account_and_payee().await;
    ana.transfer(&from, &to, "100").await.assert_status(200);

    // Sent two seconds later, and the reply is lost.
    stp.fail_registering(Some(Fault::LostReply));
    let sent = app(db.clone(), &stp).await;
    sent.clock.advance(six - sent.clock.now() + time::Duration::SECOND);
    wait("STP has the order", async || !stp.orders().is_empty()).await;
    assert_eq!(stp.requests(REGISTER)[0].body["fechaOperacion"], "20261124");
    tokio::time::sleep(Duration::from_millis(300)).await;
    sent.stop_courier();

    // A day later it is looked up under its own date, and under no other is it sent.
    stp.fail_registering(None);
    stp.begin_day("20261125");
    stp.set_state("LQ", Value::Null);
    let later = app(db, &stp).await;
    later.clock.advance(six - later.clock.now() + time::Duration::days(1));
    wait("it settles", async || status(&ana).await == "completed").await;
    let asked = stp.requests(INQUIRE);
    assert_eq!(asked.last().unwrap().body["fechaOperacion"], "20261124");
    assert_eq!((stp.orders().len(), stp.requests(REGISTER).len()), (1, 1));
}
