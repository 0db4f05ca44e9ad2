//! `/admin/models/{kind}/traffic`: what each version did over time.

use caudal::domain::model::ModelKind;
use caudal::models::Registry;
use caudal::wasm::Runtime;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Client, TestApp, on_screen, refused};
use crate::rollout::{built_in_version, until};

const ADMIN: &str = "models:admin";

async fn traffic(ops: &Client, query: &str) -> Value {
    ops.get(&format!("/admin/models/nudge/traffic{query}")).await.assert_status(200).json()
}

/// Over all steps: a test may run while a minute ends.
fn sum(list: &Value) -> i64 {
    list.as_array().into_iter().flatten().filter_map(Value::as_i64).sum()
}

/// Whether there is a time in some step, and none is zero.
fn measured(times: &Value) -> bool {
    let times: Vec<_> = times.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    !times.is_empty() && times.iter().all(|&time| time > 0.0)
}

/// A host whose models count for it alone: other tests of this process share theirs.
async fn host(db: &PgPool) -> TestApp {
    let app = TestApp::new(db.clone()).await;
    app.models.activate(Registry::embedded(&Runtime::new().unwrap()).unwrap());
    app
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn answers_of_all_hosts_are_added_up_in_steps(db: PgPool) {
    let (one, two) = (host(&db).await, host(&db).await);
    let _followers = (one.follow().await, two.follow().await);
    let ops = one.operator(Some(ADMIN));
    let empty = traffic(&ops, "").await;
    assert_eq!((&empty["steps"], &empty["step_seconds"], &empty["versions"]), (&json!(60), &json!(60), &json!([])));
    for app in [&one, &two] {
        for _ in 0..7 {
            app.ai().post("/ai/nudge", on_screen("home")).await.assert_status(200);
        }
    }
    let seen = async || traffic(&ops, "").await;
    let seen = until(seen, |it| sum(&it["versions"][0]["answered"]) == 14).await;
    let version = &seen["versions"][0];
    assert_eq!(version["version"], json!(built_in_version()));
    assert_eq!((sum(&version["answered"]), sum(&version["failed"]), sum(&version["compared"])), (14, 0, 0));
    assert!(measured(&version["p50_us"]) && version["p99_us"][0].is_null(), "{version}");
    assert_eq!(seen["classes"], json!(["assist", "info", "warning"]));
    assert_eq!(version["classes"].as_array().unwrap().iter().map(sum).sum::<i64>(), 14);

    // What is older is in an earlier step, and gone after two days.
    let older =
        "insert into traffic select minute - interval '95 minutes', kind, sha256, measure, bucket, count from traffic";
    sqlx::query(older).execute(&db).await.unwrap();
    let hours = traffic(&ops, "?minutes=120&step=60").await;
    let answered = hours["versions"][0]["answered"].as_array().unwrap();
    assert_eq!((answered.len(), answered[1].as_i64()), (2, Some(14)));
    assert_eq!(sum(&traffic(&ops, "?minutes=180&step=60").await["versions"][0]["answered"]), 28);
    sqlx::query("update traffic set minute = minute - interval '3 days'").execute(&db).await.unwrap();
    drop(one.follow().await);
    let follower = one.follow().await;
    until(async || json!(one.count("select count(*) from traffic").await), |it| *it == 0).await;
    drop(follower);
    assert_eq!(one.epoch(ModelKind::Nudge), 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn ranges_are_bounded(db: PgPool) {
    let app = TestApp::new(db).await;
    let ops = app.operator(Some("audit:read"));
    for (query, field) in [
        ("?minutes=0", "minutes"),
        ("?minutes=2881", "minutes"),
        ("?minutes=x", "minutes"),
        ("?step=0", "step"),
        ("?step=2881", "step"),
        // Each is possible, but not both.
        ("?minutes=721", "step"),
        ("?minutes=2880&step=3", "step"),
    ] {
        let path = format!("/admin/models/nudge/traffic{query}");
        refused(&app, ops.get(&path), 400, "validation-failed", Some(field)).await;
    }
    let most = ops.get("/admin/models/nudge/traffic?minutes=2880&step=4").await.assert_status(200).json();
    assert_eq!(most["steps"], 720);
    refused(&app, ops.get("/admin/models/other/traffic"), 404, "not-found", None).await;
    refused(&app, app.ai().get("/admin/models/nudge/traffic"), 401, "unauthorized", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn transfer_rules_are_counted_by_verdict(db: PgPool) {
    let app = host(&db).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some("rules:admin"));
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for amount in ["100", "200"] {
        ana.transfer(&from, &to, amount).await.assert_status(200);
    }
    refused(&app, ana.transfer(&from, &to, "20000"), 400, "insufficient-funds", Some("amount")).await;
    let seen = async || ops.get("/admin/models/transfer-rules/traffic").await.assert_status(200).json();
    let seen = until(seen, |it| sum(&it["versions"][0]["answered"]) == 3).await;
    assert_eq!(seen["classes"], json!(["accepted", "rejected", "reviewed"]));
    let version = &seen["versions"][0];
    let classes: Vec<_> = version["classes"].as_array().unwrap().iter().map(sum).collect();
    assert_eq!(classes, [2, 1, 0]);
    assert!(measured(&version["p99_us"]), "{version}");
}
