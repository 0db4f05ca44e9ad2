//! The page's warnings: which customers see which variant, and what became of them, counted from analytics events.

use std::time::Duration;

use caudal::db::warnings::{Outcome, outcomes};
use serde_json::json;
use sqlx::PgPool;
use time::Duration as Days;

use crate::harness::{TestApp, refused};

const EVENTS: &str = "/api/analytics/events";
const PAGE: &str = "/api/analytics/warnings";
const ADMIN: &str = "/admin/warnings";

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_consenting_customer_counts_once_for_what_they_were_shown(db: PgPool) {
    let app = TestApp::new(db).await;
    let begin = app.clock.now();
    let story: [(&str, bool, &[&str]); 5] = [
        // Warned twice, sent nothing.
        ("ana", true, &["warning_shown a/one call", "warning_stopped a/one call", "warning_shown a/one known"]),
        // Sent, and later looked up what to do.
        ("luis", true, &["warning_shown a/one offer", "warning_continued a/one offer", "fraud_help_opened a/one"]),
        ("eva", true, &["warning_shown a/two own", "warning_continued a/two own"]),
        // Looked it up without a warning.
        ("juan", true, &["fraud_help_opened a/two"]),
        ("rosa", false, &["warning_shown a/two call", "warning_stopped a/two call"]),
    ];
    let mut sent = 0;
    for (name, consents, events) in story {
        let user = app.user(name);
        user.put("/api/analytics/consent", json!({"granted": consents})).await.assert_status(200);
        for event in events {
            let (kind, details) = event.split_once(' ').unwrap();
            let body = json!({"screen": "transfer_confirm", "eventType": kind, "details": details});
            user.post(EVENTS, body).await.assert_status(202);
            sent += i64::from(consents);
        }
        user.post(EVENTS, json!({"screen": "home", "eventType": "screen_view"})).await.assert_status(202);
        sent += i64::from(consents);
    }
    for _ in 0..100 {
        if app.count("select count(*) from event").await == sent {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut served = app.served.pool().acquire().await.unwrap();
    let found = outcomes(&mut served, begin - Days::days(1)).await.unwrap();
    let outcome = |variant: &str, [customers, shown, kept, stopped, regretted]: [i64; 5]| Outcome {
        variant: variant.to_owned(),
        customers,
        shown,
        kept,
        stopped,
        regretted,
    };
    assert_eq!(found, [outcome("a/one", [2, 3, 1, 1, 1]), outcome("a/two", [1, 1, 0, 0, 0])]);
    assert_eq!(outcomes(&mut served, begin + Days::days(1)).await.unwrap(), []);
    drop(served);
    // Other events are not read.
    let used = "select idx_scan from pg_stat_user_indexes where indexrelname = 'event_of_warnings'";
    for _ in 0..100 {
        if app.count(used).await > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the index of warnings is not used");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_operator_decides_who_sees_which_variant(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, ops) = (app.user("ana"), app.operator(Some("ledger:operate")));
    let half = json!({"experiment": "order-of-advice", "variants": [
        {"variant": "why-first", "percent": 50}, {"variant": "advice-first", "percent": 50}]});
    assert_eq!(ana.get(PAGE).await.assert_status(200).json(), half);
    let before = ops.get(ADMIN).await.assert_status(200).json();
    assert_eq!((&before["present"], &before["changed_by"], &before["outcomes"]), (&half, &json!(null), &json!([])));

    let most = json!([{"variant": "why-first", "percent": 10}, {"variant": "advice-first", "percent": 90}]);
    let change = json!({"experiment": "advice-2", "reason": "fewer sent", "variants": most});
    let after = ops.put(ADMIN, change.clone()).await.assert_status(200).json();
    let present = json!({"experiment": "advice-2", "variants": most});
    assert_eq!((&after["present"], &after["reason"]), (&present, &json!("fewer sent")));
    assert_eq!(ana.get(PAGE).await.assert_status(200).json(), present);

    for (field, body) in [
        ("experiment", json!({"experiment": "a b", "reason": "x", "variants": most})),
        ("variants", json!({"experiment": "a", "reason": "x", "variants": [{"variant": "why-first", "percent": 99}]})),
        ("variants", json!({"experiment": "a", "reason": "x", "variants": [{"variant": "loud", "percent": 100}]})),
        ("reason", json!({"experiment": "a", "variants": most})),
    ] {
        refused(&app, ops.put(ADMIN, body), 422, "validation-failed", Some(field)).await;
    }
    ops.get(&format!("{ADMIN}?days=91")).await.assert_problem(400, "validation-failed", Some("days"));
    refused(&app, ana.put(ADMIN, change.clone()), 404, "not-found", None).await;
    refused(&app, app.ai().put(ADMIN, change.clone()), 401, "unauthorized", None).await;
    refused(&app, app.operator(Some("models:admin")).put(ADMIN, change), 403, "insufficient-scope", None).await;
    assert_eq!(ana.get(PAGE).await.json(), present, "what was refused changed nothing");
}
