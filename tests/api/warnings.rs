//! What became of the page's warnings, counted from analytics events.

use std::time::Duration;

use caudal::db::warnings::{Outcome, outcomes};
use serde_json::json;
use sqlx::PgPool;
use time::Duration as Days;

use crate::harness::TestApp;

const EVENTS: &str = "/api/analytics/events";

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
}
