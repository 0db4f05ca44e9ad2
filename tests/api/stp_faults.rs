//! STP misbehaves: what is tried again, what a person has to decide, and that nothing is sent twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Options, TestApp};
use crate::log::Errors;
use crate::rails::StpAt;
use crate::stand_in::{Fault, INQUIRE, REGISTER, StandIn};
use crate::stp::{MONDAY, app, monday, notify, pass, send, sent, settled, status, wait, wait_for_inquiries};

const PARKED: &str = "select count(*) from rail_payment where parked_at is not null";

/// Longer than the pause between two attempts.
const SOON: time::Duration = time::Duration::minutes(1);

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_in_an_unclear_state_is_parked(db: PgPool) {
    let errors = Errors::collect();
    let (stp, app, ana, key) = sent(db).await;
    for state in ["RB", "??"] {
        stp.set_state(state, Value::Null);
        pass(&app, SOON).await;
        notify(&app, &key, "LQ").await;
        wait("it is parked", async || app.count(PARKED).await == 1).await;
    }
    assert!(errors.count("a person has to decide") > 0);
    wait_for_inquiries(&stp, 1).await;
    let asked = stp.requests(INQUIRE).len();
    for _ in 0..3 {
        pass(&app, time::Duration::hours(1)).await;
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    assert_eq!(stp.requests(INQUIRE).len(), asked, "it is not asked about any more");
    assert_eq!((status(&ana).await, ana.balance().await.as_str()), (json!("pending"), "9900.00"));
    // Unless STP has news.
    stp.set_state("LQ", Value::Null);
    notify(&app, &key, "LQ").await;
    wait("it settles", async || status(&ana).await == "completed").await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_order_with_another_amount_or_payee_is_parked(db: PgPool) {
    let errors = Errors::collect();
    let (stp, app, ana, key) = sent(db).await;
    stp.set_state("LQ", Value::Null);
    stp.set_payee("646180110400000012");
    notify(&app, &key, "LQ").await;
    wait("somebody is paged", async || errors.count("STP has the order with a different payee's account") > 0).await;
    stp.set_amount("1.00");
    pass(&app, SOON).await;
    notify(&app, &key, "LQ").await;
    wait("somebody is paged", async || errors.count("STP has the order with a different amount") > 0).await;
    pass(&app, SOON).await;
    wait("it is parked", async || app.count(PARKED).await == 1).await;
    assert_eq!((status(&ana).await, ana.balance().await.as_str()), (json!("pending"), "9900.00"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_unlisted_error_is_parked_and_others_are_tried_again(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    let (from, to) = ana.account_and_payee().await;
    stp.fail_registering(Some(Fault::Code(-16)));
    ana.transfer(&from, &to, "100").await.assert_status(200);
    wait("it is parked", async || app.count(PARKED).await == 1).await;
    pass(&app, time::Duration::hours(1)).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!((stp.requests(REGISTER).len(), stp.requests(INQUIRE).len()), (1, 0));

    for fault in [Fault::Code(0), Fault::Html, Fault::Oversized, Fault::LostReply] {
        let (sent, had) = (stp.requests(REGISTER).len(), stp.orders().len());
        stp.fail_registering(Some(fault.clone()));
        stp.fail_inquiring(None);
        pass(&app, time::Duration::SECOND).await;
        ana.transfer(&from, &to, "100").await.assert_status(200);
        wait("it is sent", async || stp.requests(REGISTER).len() > sent).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        // While inquiries fail, it is not sent again.
        stp.fail_registering(None);
        stp.fail_inquiring(Some(fault));
        pass(&app, SOON).await;
        let asked = stp.requests(INQUIRE).len();
        wait_for_inquiries(&stp, asked + 1).await;
        assert_eq!(stp.requests(REGISTER).len(), sent + 1);
        stp.fail_inquiring(None);
        pass(&app, SOON).await;
        wait("STP has it", async || stp.orders().len() > had).await;
    }
    assert_eq!((stp.orders().len(), app.count(PARKED).await), (4, 1));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_that_settles_after_it_failed_pages_somebody(db: PgPool) {
    let errors = Errors::collect();
    let (stp, app, ana, key) = sent(db).await;
    stp.set_state("CN", Value::Null);
    notify(&app, &key, "CN").await;
    wait("it fails", async || status(&ana).await == "failed").await;
    assert_eq!(errors.count(""), 0);
    stp.set_state("LQ", Value::Null);
    pass(&app, SOON).await;
    notify(&app, &key, "LQ").await;
    wait("somebody is paged", async || errors.count("double payout") == 1).await;
    assert_eq!((status(&ana).await, ana.balance().await.as_str()), (json!("failed"), "10000.00"));
}

/// The claim of an inquiry runs out while STP answers it, and a notice that comes then must not be lost.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_notice_during_a_slow_inquiry_causes_another(db: PgPool) {
    let (stp, app, _, key) = settled(db).await;
    let asked = stp.requests(INQUIRE).len();
    stp.fail_inquiring(Some(Fault::Late(Duration::from_secs(1))));
    for inquiry in 1..=2 {
        app.clock.advance(SOON);
        notify(&app, &key, "D").await;
        wait("the courier asks", async || stp.requests(INQUIRE).len() == asked + inquiry).await;
    }
}

/// As above, with the database slow rather than STP: the claim has run out by the time its end is stored.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_notice_during_the_slow_end_of_an_inquiry_causes_another(db: PgPool) {
    let slow = "create function slow() returns trigger language plpgsql as $$
            begin if current_query() like '%update rail_order%' then perform pg_sleep(1); end if; return null; end $$;
        create trigger slow before update on rail_order for each statement execute function slow()";
    sqlx::raw_sql(slow).execute(&db).await.unwrap();
    let (stp, app, _, key) = settled(db).await;
    let asked = stp.requests(INQUIRE).len();
    app.clock.advance(SOON);
    notify(&app, &key, "D").await;
    wait("the courier asks", async || stp.requests(INQUIRE).len() > asked).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_that_stays_pending_pages_somebody_once_an_hour(db: PgPool) {
    let errors = Errors::collect();
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    send(&app.user("ana"), &stp).await;
    for hour in 1..=2 {
        app.clock.advance(time::Duration::minutes(61));
        wait("somebody is paged", async || errors.count("pending for too long") == hour).await;
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(errors.count("pending for too long"), hour);
    }
}

/// What STP refuses when it gets it again, it may have taken at first.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_refusal_of_a_second_attempt_is_parked_until_the_day_is_over(db: PgPool) {
    for (later, parked, end) in [(SOON, 1, "pending"), (time::Duration::days(3), 0, "failed")] {
        let stp = StandIn::start(MONDAY).await;
        let app = app(db.clone(), &stp).await;
        let ana = app.user(end);
        let (from, to) = ana.account_and_payee().await;
        stp.fail_registering(Some(Fault::Html));
        ana.transfer(&from, &to, "100").await.assert_status(200);
        wait("it is sent", async || stp.requests(REGISTER).len() == 1).await;
        stp.fail_registering(Some(Fault::Code(-7)));
        pass(&app, later).await;
        wait("it is sent again", async || stp.requests(REGISTER).len() == 2).await;
        wait("it ends", async || status(&ana).await == end && app.count(PARKED).await == parked).await;
        app.stop_courier();
        sqlx::query("update rail_payment set parked_at = null, due_at = 'infinity'").execute(&db).await.unwrap();
    }
}

/// A host is paused between the claim and the order, here by STP's slow answer, and the payment is refunded meanwhile.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_refunded_payment_is_not_sent_by_a_host_that_was_paused(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let (ana, ops) = (app.user("ana"), app.operator(Some("ledger:operate")));
    let (from, to) = ana.account_and_payee().await;
    stp.fail_registering(Some(Fault::Html));
    let id = ana.transfer(&from, &to, "100").await.assert_status(200).id();
    wait("it is sent", async || stp.requests(REGISTER).len() == 1).await;
    stp.fail_registering(None);
    stp.fail_inquiring(Some(Fault::Late(Duration::from_secs(2))));
    pass(&app, SOON).await;
    wait("the courier asks", async || !stp.requests(INQUIRE).is_empty()).await;
    let refuse = async || ops.post(&format!("/admin/payments/{id}/refuse"), json!({"reason": "case 4711"})).await;
    refuse().await.assert_problem(409, "payment-under-way", None);
    app.clock.advance(SOON);
    refuse().await.assert_status(200);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!((stp.requests(REGISTER).len(), stp.orders().len()), (1, 0));
}

/// No notice comes.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_settled_payment_is_asked_about_when_its_day_is_over_and_two_days_later(db: PgPool) {
    let errors = Errors::collect();
    let (stp, app, ana, _) = settled(db).await;
    // From noon on Saturday until 18:59 on Monday, an hour after the next day began.
    pass(&app, time::Duration::hours(2 * 24 + 7) - 2 * SOON).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    let asked = stp.requests(INQUIRE).len();
    stp.begin_day("20261124");
    for days in 0..4 {
        pass(&app, 2 * SOON + time::Duration::days(days.min(1))).await;
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(stp.requests(INQUIRE).len() - asked, if days < 2 { 1 } else { 2 }, "after {days} days");
        if days == 1 {
            stp.set_state("D", json!(16));
        }
    }
    assert_eq!((ana.balance().await.as_str(), errors.count("")), ("10000.00", 0), "it came back");
}

/// Somebody altered its row.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_with_too_many_attempts_stops_no_other(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let made = app(db.clone(), &stp).await;
    made.stop_courier();
    let ana = made.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for _ in 0..2 {
        ana.transfer(&from, &to, "1").await.assert_status(200);
    }
    sqlx::query("update rail_payment set attempts = 2147483647 where turn = 0").execute(&db).await.unwrap();
    let _host = app(db, &stp).await;
    wait("both are sent", async || stp.orders().len() == 2).await;
}

/// Two hosts, and a rail so slow that a claim would run out if its payments waited for each other: sixteen would take
/// 11 s. Each takes 0.7 s of the 6 s that a claim leaves for work, so a busy machine stays within it.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_order_is_sent_by_two_hosts(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    stp.follow_orders();
    stp.fail_registering(Some(Fault::Late(Duration::from_millis(700))));
    let options =
        || Options { stp: Some(StpAt { claim: Duration::from_secs(8), ..StpAt::from(&stp) }), ..Options::default() };
    let maker = TestApp::running(db.clone(), options()).await;
    maker.stop_courier();
    let ana = maker.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for _ in 0..32 {
        ana.transfer(&from, &to, "1").await.assert_status(200);
    }
    let _hosts = (TestApp::running(db.clone(), options()).await, TestApp::running(db, options()).await);
    wait("all are sent", async || stp.orders().len() == 32).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut sent = BTreeMap::<String, usize>::new();
    for request in stp.requests(REGISTER) {
        *sent.entry(request.body["claveRastreo"].to_string()).or_default() += 1;
    }
    assert!(sent.values().all(|count| *count == 1), "{sent:?}");
}
