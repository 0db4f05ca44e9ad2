//! What hosts report about themselves, and that a rollback returns to a version that served.

use std::time::{Duration, Instant};

use caudal::domain::model::{ModelKind, ModelVersion};
use caudal::models::Embedded;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::{hosts, serving};
use crate::harness::{Client, TestApp, hostile, hostile_of};
use crate::rollback::roll_back;
use crate::swap::{digest_of, register};

fn version_of(semantic_version: &str, bytes: &[u8]) -> String {
    ModelVersion::new(ModelKind::Nudge, semantic_version, digest_of(bytes)).to_string()
}

fn embedded() -> String {
    version_of("1.0.0", Embedded::find("nudge").unwrap().bytes)
}

/// Deploys a nudge scorer and returns the deployment.
async fn deploy(ops: &Client, version: &str) -> Value {
    let path = "/admin/models/nudge/deployment";
    let seen = ops.get(path).await.header("etag").unwrap().to_owned();
    let body = json!({"champion": version, "reason": "a test"});
    ops.with("if-match", &seen).put(path, body).await.assert_status(200).json()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hosts_report_what_they_serve_until_they_stop(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let ops = app.operator(Some("models:admin"));
    assert_eq!(hosts(&ops, "nudge").await, [] as [Value; 0], "no host runs yet");
    let (one, two) = (app.follow().await, TestApp::new(db.clone()).await.follow().await);
    let both = hosts(&ops, "nudge").await;
    assert_eq!(both.len(), 2);
    assert_ne!(both[0]["host"], both[1]["host"]);
    for host in both {
        assert_eq!((&host["epoch"], &host["state"], &host["detail"]), (&json!(0), &json!("serving"), &Value::Null));
        assert_eq!(host["champion"], embedded());
    }
    two.0.stop().await;
    assert_eq!(hosts(&ops, "nudge").await.len(), 1, "a host that stops removes its status");
    // One that crashed is forgotten after ten seconds.
    drop(one);
    let age = "update host_status set seen_at = seen_at - interval '10 seconds'";
    sqlx::query(age).execute(&db).await.unwrap();
    assert_eq!(hosts(&ops, "nudge").await, [] as [Value; 0]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_reports_that_it_loads_and_why_it_failed(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some("models:admin"));
    register(&db, ModelKind::Nudge, "1.0.0", &hostile()).await;
    let version = version_of("1.0.0", &hostile());
    deploy(&ops, &version).await;
    let start = Instant::now();
    let mut pending = Value::Null;
    loop {
        let health = app.ai().get("/ai/health").await.assert_status(200).json();
        let model = &health["models"]["nudge"];
        if model["version"] == version {
            assert_eq!(model["pending"], Value::Null, "{health}");
            break;
        }
        pending = if model["pending"].is_null() { pending } else { model["pending"].clone() };
        assert!(start.elapsed() < Duration::from_secs(10), "{health}");
        tokio::task::yield_now().await;
    }
    assert_eq!(pending["epoch"], 1, "the health check shows that a deployment is pending: {pending}");
    assert!(pending["since"].is_string(), "{pending}");
    serving(&ops, "nudge", 1, &version).await;

    let broken = b"\0asm\x0d\0\x01\0 not a component";
    register(&db, ModelKind::Nudge, "9.9.9", broken).await;
    deploy(&ops, &version_of("9.9.9", broken)).await;
    let start = Instant::now();
    let failed = loop {
        let host = hosts(&ops, "nudge").await.remove(0);
        if host["state"] == "failed" {
            break host;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{host}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!((&failed["epoch"], &failed["champion"]), (&json!(2), &json!(version)), "the previous version answers");
    assert!(failed["detail"].as_str().unwrap().starts_with("it does not load: "), "{failed}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_rollback_returns_to_a_version_that_served(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let follower = app.follow().await;
    let ops = app.operator(Some("models:admin"));
    register(&db, ModelKind::Nudge, "1.0.0", &hostile()).await;
    register(&db, ModelKind::Nudge, "1.0.7", &hostile_of("1.0.7")).await;
    let (served, never) = (version_of("1.0.0", &hostile()), version_of("1.0.7", &hostile_of("1.0.7")));
    deploy(&ops, &served).await;
    serving(&ops, "nudge", 1, &served).await;
    follower.0.stop().await;

    // Without a host, this one is deployed and never answers.
    assert_eq!(deploy(&ops, &never).await["previous"], served);
    let deployed = deploy(&ops, &embedded()).await;
    assert_eq!(deployed["previous"], served, "a rollback never returns to a version that never answered");
    let rolled_back = roll_back(&ops, "nudge", "a test").await;
    let rolled_back = rolled_back.assert_status(200).json();
    assert_eq!(rolled_back["champion"], served);
    // No other version served, so this is what hosts serve if nothing was ever deployed.
    assert_eq!(rolled_back["previous"], embedded());
}
