//! How a rollout begins: as a shadow, and only with a canary whose cost is in proportion.

use caudal::domain::model::ModelKind;
use caudal::models::Embedded;
use serde_json::json;
use sqlx::PgPool;

use crate::admin::version;
use crate::approvals::assert_sound;
use crate::assistance::with;
use crate::harness::{TestApp, hostile_of, on_screen};
use crate::rollout::built_in_version;
use crate::rollouts::{ask, asked, deployment, order, reaches, serves, start, with_canary};
use crate::swap::{digest_of, register_with};

/// At its first step it answers nobody, and what violates a bound waits for a person if that is wanted.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn it_begins_as_a_shadow_and_pauses_if_asked_to(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    let _follower = app.follow().await;
    let by_default = with(asked(&canary), &json!({"steps": null, "on_violation": "pause"}));
    let started = start(&ops, "nudge", by_default).await.assert_status(201).json();
    assert_eq!((&started["steps"], &started["on_violation"]), (&json!([0, 5, 25, 100]), &json!("pause")));
    serves(&app, ModelKind::Nudge, 1, 1).await;
    let answering = async |app: &TestApp, user: u32| {
        let asked = with(on_screen("home"), &json!({"user_id": format!("user-{user}")}));
        app.ai().post("/ai/nudge", asked).await.assert_status(200).json()["model_version"].clone()
    };
    for user in 0..100 {
        assert_eq!(answering(&app, user).await, json!(built_in_version()));
    }
    // All of them decide, not a few in a hundred.
    reaches(&ops, "nudge", |it| it["step"] == 1).await;
    assert_eq!(deployment(&ops, "nudge").await["canary"]["percent"], 5);
    serves(&app, ModelKind::Nudge, 2, 1).await;
    let hard = with(on_screen("home"), &json!({"num_validation_errors": 9, "time_on_screen_seconds": 900}));
    ask(&app, &hard, 400).await;
    let paused = reaches(&ops, "nudge", |it| it["state"] == "paused").await;
    assert!(paused["detail"].as_str().unwrap().contains("are in another class"), "{paused}");
    let now = deployment(&ops, "nudge").await;
    assert_eq!((&now["epoch"], &now["canary"]["version"], &now["setbacks"]), (&json!(2), &json!(canary), &json!([])));
    // It pauses once, and again when it is resumed.
    order(&ops, "resume").await.assert_status(200);
    reaches(&ops, "nudge", |it| it["state"] == "paused" && it["changed_by"] == "rollout").await;
    let records = "select string_agg(action, ', ' order by seq) from audit_record where subject = 'rollout'";
    assert_eq!(app.text(records).await, "start, advance, pause, resume, pause");
    assert!(app.ai().get("/metrics").await.text.contains("caudal_model_rollouts_stopped_total{kind=\"nudge\"} 2"));
    order(&ops, "abort").await.assert_status(200);
    assert_sound(&app).await;
}

/// By what the gate measured of both.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_canary_that_costs_too_much_does_not_begin(db: PgPool) {
    let (_app, ops, _) = with_canary(&db).await;
    let champion = digest_of(Embedded::find("nudge").unwrap().bytes).to_string();
    let cost = async |release: &str, fuel: u64| {
        let bytes = hostile_of(release);
        let own = digest_of(&bytes).to_string();
        let report = json!({"bytes": 1, "kind": null, "version": null, "model_version": null, "summary": null,
            "checks": [], "fuel": {(own): fuel, (&*champion): 1_000}});
        register_with(&db, ModelKind::Nudge, release, &bytes, report).await;
        version(&ops, &format!("nudge-{release}")).await
    };
    let (dear, cheap) = (cost("1.0.8", 10_001).await, cost("1.0.9", 10_000).await);
    let told = start(&ops, "nudge", asked(&dear)).await;
    told.assert_problem(422, "validation-failed", Some("canary"));
    let detail = "costs 10001 instructions a call, more than 1000% of the champion's 1000";
    assert_eq!(told.json()["errors"][0]["detail"], detail);
    let raised = with(asked(&dear), &json!({"max_fuel_percent": 1_001}));
    start(&ops, "nudge", raised).await.assert_status(201);
    order(&ops, "abort").await.assert_status(200);
    start(&ops, "nudge", asked(&cheap)).await.assert_status(201);
}
