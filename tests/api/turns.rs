//! Whose payments and schedules are served first, how many may be pending, and by which clock.

use std::time::Duration;

use caudal::ledger::batch::Terms;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Client, Options, TestApp, refused};
use crate::rails::StpAt;
use crate::schedules::{PATH, ana};
use crate::stand_in::{Fault, INQUIRE, REGISTER, StandIn};
use crate::stp::{MONDAY, app, status, wait};

/// Pays 1.00 as often as that.
async fn pay(user: &Client, count: usize) {
    let (from, to) = user.account_and_payee().await;
    for _ in 0..count {
        user.transfer(&from, &to, "1").await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn one_users_many_payments_do_not_delay_anothers(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let made = app(db.clone(), &stp).await;
    made.stop_courier();
    let mut users = vec![("ana", 40), ("luis", 1), ("eva", 3)];
    for (user, count) in &users {
        pay(&made.user(user), *count).await;
    }
    let keys = "select spei_reference from transfer where owner = $1 and rail = 'stp'";
    stp.fail_registering(Some(Fault::Late(Duration::from_millis(100))));
    let _host = app(db.clone(), &stp).await;
    wait("all are sent", async || stp.orders().len() == 44).await;
    let sent: Vec<Value> = stp.requests(REGISTER).into_iter().map(|it| it.body["claveRastreo"].clone()).collect();
    // Those who have few are through before the second round of sixteen begins.
    users.remove(0);
    for (user, _) in users {
        let keys: Vec<String> = sqlx::query_scalar(keys).bind(user).fetch_all(&db).await.unwrap();
        let last = sent.iter().rposition(|it| keys.contains(&it.as_str().unwrap().to_owned())).unwrap();
        assert!(last < 16, "{user}: {last}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_users_pending_payments_are_bounded(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let terms = Terms { pending_max: 3, ..Terms::OPEN };
    let ana = ana(db, Options { terms, stp: Some(StpAt::from(&stp)), ..Options::default() }).await;
    ana.app.stop_courier();
    let scheduled = ana.plan(1.0, json!({})).await;
    let bulk = async || {
        let it = |key| json!({"idempotencyKey": format!("k{key}"), "fromAccountId": ana.from, "toBeneficiaryId": ana.to, "amount": 1});
        let body = json!({"transfers": (0..4).map(it).collect::<Vec<_>>()});
        let answer = ana.client.post("/api/ledger/transactions/bulk", body).await.assert_status(200).json();
        answer["results"].as_array().unwrap().iter().map(|it| it["status"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(bulk().await, [200, 200, 200, 429]);
    let fourth = ana.client.with("idempotency-key", "k3");
    refused(&ana.app, fourth.transfer(&ana.from, &ana.to, "1"), 429, "too-many-pending", None).await;
    assert!(fourth.transfer(&ana.from, &ana.to, "1").await.header("retry-after").is_some());
    // Another user's are not affected, nor what is due, for good.
    pay(&ana.app.user("luis"), 3).await;
    ana.at("2026-11-22T15:00:00Z").await;
    assert_eq!((ana.over(&scheduled).await.len(), ana.transfers().await.len()), (0, 3));
    let settle = "with done as (delete from rail_payment where turn < 2 returning transfer_id)
        update transfer set status = 'completed' where transfer_id in (select transfer_id from done)";
    ana.execute(settle).await;
    assert_eq!(bulk().await, [200, 200, 200, 200]);
    ana.at("2026-11-22T15:02:00Z").await;
    assert_eq!(ana.over(&scheduled).await, ["2026-11-22 sent"]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_waited_for_its_turn_is_sent_without_asking(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    stp.follow_orders();
    let host = async || {
        let options = Options { stp: Some(StpAt::from(&stp)), ..Options::default() };
        TestApp::running(db.clone(), options).await
    };
    // What was entered just after the start may be from before it, by a host's clock.
    let young = "select clock_timestamp() < pg_postmaster_start_time() + interval '11 seconds'";
    wait("the server is older", async || !sqlx::query_scalar::<_, bool>(young).fetch_one(&db).await.unwrap()).await;
    let made = host().await;
    made.stop_courier();
    pay(&made.user("ana"), 1).await;
    // Another one is older than the server, as after a restore.
    let start: time::OffsetDateTime =
        sqlx::query_scalar("select pg_postmaster_start_time()").fetch_one(&db).await.unwrap();
    let restored = app(db.clone(), &stp).await;
    restored.stop_courier();
    restored.clock.advance(start - restored.clock.now());
    pay(&restored.user("luis"), 1).await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    let _host = host().await;
    wait("both are sent", async || stp.orders().len() == 2).await;
    let old: String = sqlx::query_scalar("select spei_reference from transfer where owner = 'luis' and rail = 'stp'")
        .fetch_one(&db)
        .await
        .unwrap();
    let asked = stp.requests(INQUIRE);
    assert!(!asked.is_empty() && asked.iter().all(|it| it.body["claveRastreo"] == old), "{asked:?}");
}

/// A host's clock jumps ahead, then back. Nothing is closed, sent or released until it is right again.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_whose_clock_jumps_decides_nothing(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    stp.follow_orders();
    let app = TestApp::running(db, Options { stp: Some(StpAt::from(&stp)), ..Options::default() }).await;
    let user = app.user("ana");
    let (from, to) = user.account_and_payee().await;
    let date = |days| (app.clock.now() + time::Duration::days(days)).date().to_string();
    let plan = json!({
        "fromAccountId": from, "toBeneficiaryId": to, "amount": 1, "recurrence": "weekly", "firstDate": date(2),
    });
    user.post(PATH, plan).await.assert_status(201);
    let hold = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
    user.post("/api/ledger/holds", hold).await.assert_status(201);
    stp.fail_registering(Some(Fault::Html));
    user.transfer(&from, &to, "1").await.assert_status(200);
    wait("it is sent", async || !stp.requests(REGISTER).is_empty()).await;
    for days in [20, -40] {
        app.clock.advance(time::Duration::days(days));
        assert!(app.scheduler.send_due().await.is_err());
        let unready = app.ai().get("/readyz").await.assert_status(503).json();
        assert_eq!((&unready["ledger"], &unready["database"]), (&json!(false), &json!(true)), "{unready}");
        assert!(unready["detail"].as_str().is_some_and(|it| it.contains("with NTP")), "{unready}");
        let (sent, asked) = (stp.requests(REGISTER).len(), stp.requests(INQUIRE).len());
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert_eq!((stp.requests(REGISTER).len(), stp.requests(INQUIRE).len()), (sent, asked));
    }
    app.clock.advance(time::Duration::days(20));
    app.scheduler.send_due().await.unwrap();
    wait("it is ready", async || app.ai().get("/readyz").await.status == 200).await;
    for none in ["select count(*) from occurrence", "select count(*) from hold_end"] {
        assert_eq!(app.count(none).await, 0, "{none}");
    }
    stp.fail_registering(None);
    wait("STP has it", async || stp.orders().len() == 1).await;
    assert_eq!(status(&user).await, "pending");
}
