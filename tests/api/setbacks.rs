//! What an operator has to name: the version that they promote although it was withdrawn or rolled back, and the
//! canary that they end.

use caudal::domain::model::ModelKind;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::{serving, version};
use crate::assistance::with;
use crate::harness::{Client, TestApp, hostile, hostile_of, on_screen, refused};
use crate::rollback::roll_back;
use crate::rollout::{built_in_version, hostile_version, until};
use crate::swap::register;

const DEPLOYMENT: &str = "/admin/models/nudge/deployment";
const ROLLBACK: &str = "/admin/models/nudge/rollback";

async fn present(ops: &Client) -> Value {
    ops.get(DEPLOYMENT).await.assert_status(200).json()
}

/// An operator who has read the present deployment.
async fn informed(ops: &Client) -> Client {
    ops.with("if-match", ops.get(DEPLOYMENT).await.header("etag").unwrap())
}

/// The request that confirms what another was refused for, after a test that the service asks for it and nothing else
/// does.
async fn confirmed(app: &TestApp, change: Value, field: &str, version: &str) -> Value {
    let ops = informed(&app.operator(Some("models:admin"))).await;
    let now = present(&ops).await;
    // The host notes in the history that it serves.
    serving(&ops, "nudge", now["epoch"].as_i64().unwrap(), now["champion"].as_str().unwrap()).await;
    refused(app, ops.put(DEPLOYMENT, change.clone()), 422, "validation-failed", Some(field)).await;
    let refusal = ops.put(DEPLOYMENT, change.clone()).await.json();
    let fault = &refusal["errors"][0];
    assert_eq!(fault["code"], "required");
    assert!(fault["detail"].as_str().unwrap().starts_with(&format!("must name {version}: ")), "{fault}");
    for other in [json!("nudge-9.9.9+00000000"), json!(true)] {
        let wrong = with(change.clone(), &json!({field: other}));
        refused(app, ops.put(DEPLOYMENT, wrong), 422, "validation-failed", Some(field)).await;
    }
    let done = ops.put(DEPLOYMENT, with(change, &json!({field: version}))).await;
    done.assert_status(200).json()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_withdrawn_version_is_promoted_only_by_name(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    register(&db, ModelKind::Nudge, "1.0.0", &hostile()).await;
    let ops = app.operator(Some("models:admin"));
    let (champion, canary) = (built_in_version(), hostile_version());
    let change = json!({"champion": champion, "canary": {"version": canary, "percent": 99}, "reason": "try it"});
    informed(&ops).await.put(DEPLOYMENT, change.clone()).await.assert_status(200);
    until(async || json!(app.challengers(ModelKind::Nudge)), |it| *it == 1).await;
    for user in 0..20 {
        let asked = with(on_screen("trap"), &json!({"user_id": user.to_string()}));
        app.ai().post("/ai/nudge", asked).await.assert_status(200);
    }
    let now = until(async || present(&ops).await, |it| it["changed_by"] == "automatic").await;
    let setback = &now["setbacks"][0];
    assert_eq!(
        (&setback["version"], &setback["cause"], &setback["epoch"]),
        (&json!(canary), &json!("withdrawn"), &json!(2))
    );
    let reason = setback["reason"].as_str().unwrap();
    assert!(reason.starts_with("canary withdrawn: ") && reason.contains("3 of 3"), "{setback}");
    // Another try with some users needs no more words than the first.
    informed(&ops).await.put(DEPLOYMENT, change).await.assert_status(200);
    let promoted = confirmed(&app, json!({"champion": canary, "reason": "we know"}), "despite_setback", &canary).await;
    assert_eq!((&promoted["champion"], &promoted["setbacks"]), (&json!(canary), &json!([])));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_version_that_was_rolled_back_from_is_promoted_only_by_name(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    register(&db, ModelKind::Nudge, "1.0.7", &hostile_of("1.0.7")).await;
    let ops = app.operator(Some("models:admin"));
    let (first, second) = (built_in_version(), version(&ops, "nudge-1.0.7+").await);
    let promote = json!({"champion": second, "reason": "better"});
    informed(&ops).await.put(DEPLOYMENT, promote.clone()).await.assert_status(200);
    serving(&ops, "nudge", 1, &second).await;
    roll_back(&ops, "nudge", "worse").await.assert_status(200);
    serving(&ops, "nudge", 2, &first).await;
    // By a rollback of the rollback as well.
    let back = json!({"from": first, "to": second, "reason": "undo"});
    let seen = informed(&ops).await;
    refused(&app, seen.post(ROLLBACK, back.clone()), 422, "validation-failed", Some("despite_setback")).await;
    let wrong = with(back.clone(), &json!({"despite_setback": first}));
    refused(&app, seen.post(ROLLBACK, wrong), 422, "validation-failed", Some("despite_setback")).await;
    confirmed(&app, promote, "despite_setback", &second).await;
    serving(&ops, "nudge", 3, &second).await;
    roll_back(&ops, "nudge", "still worse").await.assert_status(200);
    serving(&ops, "nudge", 4, &first).await;
    let named = with(back, &json!({"despite_setback": second}));
    let undone = informed(&ops).await.post(ROLLBACK, named).await.assert_status(200).json();
    assert_eq!((&undone["champion"], &undone["epoch"]), (&json!(second), &json!(5)));
    // The version that this left has one now; what another replaced has none.
    assert_eq!(undone["setbacks"][0]["version"], first);
    assert_eq!(undone["setbacks"].as_array().unwrap().len(), 1, "{undone}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_running_canary_is_ended_only_by_name(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    for version in ["1.0.7", "1.0.8"] {
        register(&db, ModelKind::Nudge, version, &hostile_of(version)).await;
    }
    let ops = app.operator(Some("models:admin"));
    let champion = built_in_version();
    let (canary, other) = (version(&ops, "nudge-1.0.7+").await, version(&ops, "nudge-1.0.8+").await);
    let on_trial = |version: &str, percent: u8| json!({"champion": champion, "canary": {"version": version, "percent": percent}, "reason": "try it"});
    let start = async |change: Value| informed(&ops).await.put(DEPLOYMENT, change).await.assert_status(200).json();
    start(on_trial(&canary, 5)).await;
    start(on_trial(&canary, 25)).await;
    // Whatever takes its users away: no canary, another one, a shadow, another champion.
    let changes = [
        json!({"champion": champion, "reason": "enough"}),
        on_trial(&other, 5),
        json!({"champion": champion, "shadows": [canary], "reason": "only compare"}),
        json!({"champion": other, "reason": "a new one"}),
    ];
    for change in changes {
        let now = confirmed(&app, change, "ends_canary", &canary).await;
        assert_ne!(now["canary"]["version"], json!(canary));
        let running = now["canary"]["version"].as_str();
        let again = with(on_trial(&canary, 5), &json!({"ends_canary": running}));
        start(again).await;
    }
    // Promoting it ends nothing.
    assert_eq!(start(json!({"champion": canary, "reason": "it is good"})).await["canary"], Value::Null);
}
