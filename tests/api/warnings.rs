//! The page's warnings: which customers see which variant, and what became of them, counted from analytics events.

use std::time::Duration;

use caudal::db::warnings::{Outcome, outcomes};
use serde_json::{Value, json};
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
        ("luis", true, &["warning_shown a/one offer", "warning_continued a/one offer", "fraud_help_opened a/two"]),
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
    let turned = json!([{"variant": "advice-first", "percent": 90}, {"variant": "why-first", "percent": 10}]);
    let change = json!({"experiment": "advice-2", "reason": "fewer sent", "variants": turned});
    let put = async |change: &Value| ops.with("if-match", "\"0\"").put(ADMIN, change.clone()).await;
    ops.put(ADMIN, change.clone()).await.assert_problem(428, "if-match-required", None);
    for (field, wrong) in [
        ("experiment", json!({"experiment": "a b"})),
        ("experiment", json!({"experiment": "amount-500"})),
        ("variants", json!({"variants": [{"variant": "why-first", "percent": 99}]})),
        ("variants", json!({"variants": [{"variant": "loud", "percent": 100}]})),
        ("reason", json!({"reason": " "})),
    ] {
        let mut body = change.clone();
        body.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        refused(&app, put(&body), 422, "validation-failed", Some(field)).await;
    }
    ops.get(&format!("{ADMIN}?days=91")).await.assert_problem(400, "validation-failed", Some("days"));
    refused(&app, ana.put(ADMIN, change.clone()), 404, "not-found", None).await;
    refused(&app, app.ai().put(ADMIN, change.clone()), 401, "unauthorized", None).await;
    refused(&app, app.operator(Some("models:admin")).put(ADMIN, change.clone()), 403, "insufficient-scope", None).await;
    assert_eq!(ana.get(PAGE).await.json(), half, "what was refused changed nothing");

    // Of two who saw the same, one is too late.
    let both = tokio::join!(put(&change), put(&change));
    let mut found = [both.0.status.as_u16(), both.1.status.as_u16()];
    found.sort_unstable();
    assert_eq!(found, [200, 412]);
    refused(&app, put(&change), 412, "stale", None).await;
    // In the page's order, whichever the operator wrote.
    let present = json!({"experiment": "advice-2", "variants": most});
    let after = ops.get(ADMIN).await.assert_status(200).json();
    assert_eq!((&after["present"], &after["reason"], &after["change"]), (&present, &json!("fewer sent"), &json!(1)));
    assert_eq!(ana.get(PAGE).await.assert_status(200).json(), present);
    let all =
        json!({"experiment": "advice-2", "reason": "all", "variants": [{"variant": "advice-first", "percent": 100}]});
    ops.with("if-match", "\"1\"").put(ADMIN, all).await.assert_status(200);
    assert_eq!(ana.get(PAGE).await.json()["variants"][0], json!({"variant": "why-first", "percent": 0}));
}
