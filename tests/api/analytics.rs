//! `/api/analytics`: events are stored only with consent, and without personal data.

use std::time::Duration;

use caudal::db::consents::{Consent, record_consent};
use caudal::db::events::{self, Event};
use serde_json::{Value, json};
use sqlx::PgPool;
use time::OffsetDateTime;
use time::macros::datetime;
use uuid::Uuid;

use crate::assistance::with;
use crate::assistance_limits::{in_case, with_raw};
use crate::harness::{Answer, Client, TestApp, refused};

const EVENTS: &str = "/api/analytics/events";
const CONSENT: &str = "/api/analytics/consent";
const QUEUED: &str = "select count(*) from event_queue";
const STORED: &str = "select count(*) from event";
const NOW: OffsetDateTime = datetime!(2026-11-21 18:00 UTC);

fn event() -> Value {
    json!({"screen": "transfer_amount", "eventType": "screen_view"})
}

async fn answer_consent(user: &Client, granted: bool) {
    user.put(CONSENT, json!({"granted": granted})).await.assert_status(200);
}

/// Waits up to 5 seconds for a query to return `count`.
async fn wait_for(app: &TestApp, query: &'static str, count: i64) {
    for _ in 0..100 {
        if app.count(query).await == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("5 seconds later {query} is {} and not {count}", app.count(query).await);
}

/// Puts an event of `owner` into the queue without waking the worker.
async fn queue(db: &PgPool, owner: &str) {
    let insert = "insert into event_queue (event_id, owner, screen, event_type, received_at) \
        values ($1, $2, 'home', 'screen_view', $3)";
    sqlx::query(insert).bind(Uuid::now_v7()).bind(owner).bind(NOW).execute(db).await.unwrap();
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn without_consent_an_event_is_accepted_and_dropped(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let headers = |answer: &Answer| answer.headers.keys().map(ToString::to_string).collect::<Vec<_>>();
    let before = app.rows().await;
    let without = ana.post(EVENTS, event()).await;
    assert_eq!(without.assert_status(202).text, "");
    assert_eq!(app.rows().await, before);
    answer_consent(&ana, false).await;
    answer_consent(&luis, true).await;
    ana.post(EVENTS, event()).await.assert_status(202);
    assert_eq!(app.count(QUEUED).await, 0, "another user's consent does not matter");

    // The response does not reveal whether it is stored.
    let with = luis.post(EVENTS, event()).await;
    assert_eq!(with.assert_status(202).text, "");
    assert_eq!(headers(&with), headers(&without));
    wait_for(&app, STORED, 1).await;
    assert_eq!(app.count("select count(*) from event where owner = 'luis'").await, 1);
    assert_eq!(app.count(QUEUED).await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn with_consent_it_is_stored_without_personal_data(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    answer_consent(&ana, true).await;
    for (screen, kind, details) in [
        ("transfer_amount", "nudge_accepted", json!("step 2 of 4")),
        ("to 012180004643051249", "call 55 1234 5678", json!("ana@example.com sent $1,500.50")),
        ("4111 1111 1111 1111", "LOOA531113HTCPBN07", json!("LOOA5311135K1 sent 1500.50")),
        ("home", "screen_view", json!(null)),
    ] {
        let body = json!({"screen": screen, "eventType": kind, "details": details, "user_id": "luis", "owner": "luis"});
        assert_eq!(ana.post(EVENTS, body).await.assert_status(202).text, "");
        app.clock.advance(time::Duration::MILLISECOND);
    }
    wait_for(&app, STORED, 4).await;
    assert_eq!(app.count(QUEUED).await, 0);
    type Row = (String, String, String, Option<String>, OffsetDateTime);
    let rows =
        "select owner, screen, event_type, details, date_trunc('second', received_at) from event order by event_id";
    let rows: Vec<Row> = sqlx::query_as(rows).fetch_all(&app.db).await.unwrap();
    let want = [
        ("transfer_amount", "nudge_accepted", Some("step 2 of 4")),
        ("to [clabe]", "call [phone]", Some("[email] sent [amount]")),
        ("[card]", "[curp]", Some("[rfc] sent [amount]")),
        ("home", "screen_view", None),
    ];
    let want = want.map(|(screen, kind, details)| {
        ("ana".to_owned(), screen.to_owned(), kind.to_owned(), details.map(str::to_owned), NOW)
    });
    assert_eq!(rows, want);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn personal_data_joined_by_underscores_is_removed_too(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    answer_consent(&ana, true).await;
    let body =
        json!({"screen": "confirm_1500.50", "eventType": "rfc_LOOA5311135K1", "details": "curp_LOOA531113HTCPBN07"});
    ana.post(EVENTS, body).await.assert_status(202);
    wait_for(&app, STORED, 1).await;
    let text = "select screen || ' ' || event_type || ' ' || details from event";
    let text: String = sqlx::query_scalar(text).fetch_one(&app.db).await.unwrap();
    for personal in ["1500.50", "LOOA5311135K1", "LOOA531113HTCPBN07"] {
        assert!(!text.contains(personal), "{personal} is in {text}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn concurrent_answers_and_their_history_agree(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let puts = (0..20).map(|at| {
        let (ana, answer) = (ana.clone(), json!({"granted": at % 2 == 0, "noticeVersion": at.to_string()}));
        tokio::spawn(async move { ana.put(CONSENT, answer).await })
    });
    let puts: Vec<_> = puts.collect();
    let mut answers = Vec::new();
    for put in puts {
        answers.push(put.await.unwrap().assert_status(200).json());
    }
    // A clock that runs behind the one of another host changes nothing about the order.
    app.clock.advance(time::Duration::seconds(-1));
    answers.push(ana.put(CONSENT, json!({"granted": true, "noticeVersion": "20"})).await.assert_status(200).json());
    answers.sort_by_key(|it| it["updatedAt"].as_str().unwrap().to_owned());
    assert_eq!(answers[20]["noticeVersion"], "20");
    assert_eq!(ana.get(CONSENT).await.json(), answers[20]);
    let history = "select notice_version from consent_history order by created_at";
    let history: Vec<String> = sqlx::query_scalar(history).fetch_all(&app.db).await.unwrap();
    let told: Vec<_> = answers.iter().map(|it| it["noticeVersion"].as_str().unwrap()).collect();
    assert_eq!(history, told);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn consent_is_off_by_default_and_recorded_for_each_user(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let none = json!({"granted": false, "updatedAt": null, "noticeVersion": null});
    assert_eq!(ana.get(CONSENT).await.assert_status(200).json(), none);
    for (body, granted, notice, at) in [
        (json!({"granted": true, "noticeVersion": "2026-01"}), true, json!("2026-01"), "2026-11-21T18:00:00.000Z"),
        (json!({"granted": false}), false, json!(null), "2026-11-21T18:01:00.000Z"),
        (json!({"granted": true, "noticeVersion": null}), true, json!(null), "2026-11-21T18:02:00.000Z"),
        (
            json!({"granted": true, "noticeVersion": "ñ".repeat(64)}),
            true,
            json!("ñ".repeat(64)),
            "2026-11-21T18:03:00.000Z",
        ),
    ] {
        let want = json!({"granted": granted, "updatedAt": at, "noticeVersion": notice});
        assert_eq!(ana.put(CONSENT, body).await.assert_status(200).json(), want);
        assert_eq!(ana.get(CONSENT).await.assert_status(200).json(), want);
        app.clock.advance(time::Duration::MINUTE);
    }
    assert_eq!(luis.get(CONSENT).await.json(), none);
    let history =
        "select granted, notice_version, created_at from consent_history where owner = 'ana' order by created_at";
    let history: Vec<(bool, Option<String>, OffsetDateTime)> =
        sqlx::query_as(history).fetch_all(&app.db).await.unwrap();
    let at = |minutes| NOW + time::Duration::minutes(minutes);
    let want = [
        (true, Some("2026-01".to_owned()), at(0)),
        (false, None, at(1)),
        (true, None, at(2)),
        (true, Some("ñ".repeat(64)), at(3)),
    ];
    assert_eq!(history, want);
    assert_eq!(app.count("select count(*) from consent").await, 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_revocation_empties_the_users_queue(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    answer_consent(&ana, true).await;
    answer_consent(&luis, true).await;
    ana.post(EVENTS, event()).await.assert_status(202);
    wait_for(&app, STORED, 1).await;
    // The worker now sleeps for some seconds unless something wakes it.
    tokio::time::sleep(Duration::from_millis(300)).await;
    queue(&app.db, "ana").await;
    queue(&app.db, "ana").await;
    queue(&app.db, "luis").await;
    answer_consent(&ana, false).await;
    assert_eq!(app.count("select count(*) from event_queue where owner = 'ana'").await, 0);
    // Another user's events are untouched, and her stored one stays until it expires.
    luis.post(EVENTS, event()).await.assert_status(202);
    wait_for(&app, "select count(*) from event where owner = 'luis'", 2).await;
    assert_eq!(app.count("select count(*) from event where owner = 'ana'").await, 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn consent_is_checked_when_queueing_and_again_when_storing(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let says = |granted| Consent { granted, notice_version: None, updated_at: NOW };
    let events_at = [0, 1, 2].map(|seconds| Event {
        event_id: Uuid::now_v7(),
        screen: "home".to_owned(),
        event_type: "screen_view".to_owned(),
        details: None,
        received_at: NOW + time::Duration::seconds(seconds),
    });
    let [oldest, middle, newest] = &events_at;
    record_consent(&mut db, "ana", says(true), uuid::Uuid::new_v4()).await.unwrap();
    record_consent(&mut db, "eva", says(true), uuid::Uuid::new_v4()).await.unwrap();
    record_consent(&mut db, "luis", says(false), uuid::Uuid::new_v4()).await.unwrap();
    for (owner, event) in [("eva", newest), ("ana", middle), ("eva", oldest), ("luis", oldest), ("nobody", oldest)] {
        events::enqueue_event(&mut db, owner, event).await.unwrap();
    }
    let owners = "select owner from event_queue order by received_at";
    let owners: Vec<String> = sqlx::query_scalar(owners).fetch_all(&mut *db).await.unwrap();
    assert_eq!(owners, ["eva", "ana", "eva"]);

    record_consent(&mut db, "ana", says(false), uuid::Uuid::new_v4()).await.unwrap();
    let stored = "select event_id from event where owner = 'eva' and stored_at = $1 order by received_at";
    let mut stored_ids = async |limit, taken| {
        assert_eq!(events::store_queued(&mut db, limit, NOW).await.unwrap(), taken);
        sqlx::query_scalar::<_, Uuid>(stored).bind(NOW).fetch_all(&mut *db).await.unwrap()
    };
    // The oldest comes first; hers is removed from the queue and dropped.
    assert_eq!(stored_ids(1, 1).await, [oldest.event_id]);
    assert_eq!(stored_ids(1, 1).await, [oldest.event_id]);
    assert_eq!(stored_ids(500, 1).await, [oldest.event_id, newest.event_id]);
    assert_eq!(stored_ids(500, 0).await, [oldest.event_id, newest.event_id]);
    let all: i64 = sqlx::query_scalar(STORED).fetch_one(&mut *db).await.unwrap();
    assert_eq!(all, 2);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_revocation_and_the_worker_do_not_deadlock(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    answer_consent(&ana, true).await;
    ana.post(EVENTS, event()).await.assert_status(202);
    wait_for(&app, STORED, 1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;

    // Both need her consent row, which is locked here; the revocation comes first.
    let waiting =
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let mut gate = app.db.begin().await.unwrap();
    sqlx::query("select granted from consent where owner = 'ana' for update").execute(&mut *gate).await.unwrap();
    queue(&app.db, "ana").await;
    let revocation = tokio::spawn(async move { ana.put(CONSENT, json!({"granted": false})).await });
    wait_for(&app, waiting, 1).await;
    let pool = app.db.clone();
    let storing = tokio::spawn(async move {
        let mut db = pool.acquire().await?;
        events::store_queued(&mut db, 500, NOW).await
    });
    for _ in 0..20 {
        if storing.is_finished() || app.count(waiting).await == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    gate.rollback().await.unwrap();
    revocation.await.unwrap().assert_status(200);
    storing.await.unwrap().unwrap();
    assert_eq!(app.count(QUEUED).await, 0);
    assert_eq!(app.count(STORED).await, 1, "what was queued when consent ended is not stored");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn old_events_are_deleted(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    record_consent(
        &mut db,
        "ana",
        Consent { granted: true, notice_version: None, updated_at: NOW },
        uuid::Uuid::new_v4(),
    )
    .await
    .unwrap();
    for milliseconds in [-1, 0, 1] {
        let received_at = NOW + time::Duration::milliseconds(milliseconds);
        let (screen, event_type) = ("home".to_owned(), "screen_view".to_owned());
        let event = Event { event_id: Uuid::now_v7(), screen, event_type, details: None, received_at };
        events::enqueue_event(&mut db, "ana", &event).await.unwrap();
    }
    assert_eq!(events::store_queued(&mut db, 500, NOW).await.unwrap(), 3);
    assert_eq!(events::delete_events_before(&mut db, NOW).await.unwrap(), 1);
    assert_eq!(events::delete_events_before(&mut db, NOW).await.unwrap(), 0);
    let left: Vec<OffsetDateTime> =
        sqlx::query_scalar("select received_at from event order by 1").fetch_all(&mut *db).await.unwrap();
    assert_eq!(left, [NOW, NOW + time::Duration::milliseconds(1)]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn events_and_answers_are_checked(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    answer_consent(&ana, true).await;
    let long = |text: &str, times: usize| format!("\"{}\"", text.repeat(times));
    let labels = ["null", "5", "[]", "\"\"", "\" \\t\"", "\"a\\u0000\"", &long("s", 65)].map(str::to_owned);
    let details = ["5", "{}", "\"a\\u0000b\"", &long("d", 1025), &long("ñ", 513)].map(str::to_owned);
    for (field, values) in [("screen", &labels[..]), ("eventType", &labels), ("details", &details)] {
        for raw in values {
            let body = with_raw(&event(), field, raw);
            let answer = in_case(raw, ana.post_text(EVENTS, &body));
            refused(&app, answer, 400, "validation-failed", Some(field)).await;
        }
    }
    for field in ["screen", "eventType"] {
        let mut without = event();
        without.as_object_mut().unwrap().remove(field);
        refused(&app, in_case(field, ana.post(EVENTS, without)), 400, "validation-failed", Some(field)).await;
        refused(&app, ana.post(EVENTS, json!({})), 400, "validation-failed", Some(field)).await;
    }
    refused(&app, ana.post_text(EVENTS, "{"), 400, "malformed-json", None).await;
    refused(&app, app.anon().post(EVENTS, event()), 401, "unauthorized", None).await;

    for raw in ["null", "\"yes\"", "\"true\"", "1", "[]"] {
        let answer = in_case(raw, ana.put(CONSENT, json!({"granted": serde_json::from_str::<Value>(raw).unwrap()})));
        refused(&app, answer, 400, "validation-failed", Some("granted")).await;
    }
    refused(&app, ana.put(CONSENT, json!({"noticeVersion": "1"})), 400, "validation-failed", Some("granted")).await;
    for notice in [json!(1), json!("v".repeat(65)), json!("a\0b")] {
        let answer = in_case(&notice, ana.put(CONSENT, json!({"granted": false, "noticeVersion": notice.clone()})));
        refused(&app, answer, 400, "validation-failed", Some("noticeVersion")).await;
    }
    refused(&app, app.anon().put(CONSENT, json!({"granted": false})), 401, "unauthorized", None).await;
    refused(&app, app.anon().get(CONSENT), 401, "unauthorized", None).await;
    assert_eq!(ana.get(CONSENT).await.json()["granted"], true, "what is refused revokes nothing");

    // Every field at its maximum.
    for details in [json!(null), json!(""), json!("d".repeat(1024)), json!("ñ".repeat(512))] {
        let labels = json!({"screen": "s".repeat(64), "eventType": "ñ".repeat(64), "details": details});
        ana.post(EVENTS, with(event(), &labels)).await.assert_status(202);
    }
    wait_for(&app, STORED, 4).await;
    assert_eq!(app.count("select max(octet_length(details))::bigint from event").await, 1024);
}
