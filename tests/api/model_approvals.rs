//! Which deployments take two operators.

use caudal::scoring::Risk;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::{serving, version};
use crate::approvals::{app, approve, assert_sound};
use crate::assistance::with;
use crate::harness::refused;
use crate::rollback::roll_back;

/// Another risk champion takes two; a challenger, and going back to the champion before, take one.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_new_risk_champion_takes_two_and_a_rollback_one(db: PgPool) {
    let app = app(db).await;
    let _follower = app.follow().await;
    let (eva, ops) = (app.operator_named("eva", "models:admin"), app.operator(Some("models:admin")));
    let path = "/admin/models/risk/deployment";
    let (old, new) = (version(&ops, "risk-1.0.0+").await, version(&ops, "risk-2.0.0+").await);
    let start = json!({"champion": old, "reason": "the first"});
    let shadow = json!({"champion": old, "shadows": [new], "reason": "compare"});
    let first = ops.with("if-match", "\"0\"").put(path, start).await.assert_status(202).json();
    approve(&eva, &first).await.assert_status(200);
    serving(&ops, "risk", 1, &old).await;
    ops.with("if-match", "\"1\"").put(path, shadow).await.assert_status(200);
    let change = json!({"champion": new, "reason": "better"});
    let other = json!({"champion": new, "reason": "newer"});
    let stale = ops.with("if-match", "\"2\"").put(path, other).await.assert_status(202).json();
    let proposed = ops.with("if-match", "\"2\"").put(path, change).await.assert_status(202).json();
    assert_eq!(ops.get(path).await.json()["champion"], old);
    let deployed = approve(&eva, &proposed).await.assert_status(200).json();
    assert_eq!((&deployed["champion"], &deployed["changed_by"]), (&json!(new), &json!("ops, approved by eva")));
    // The other proposal was for a deployment that is gone.
    approve(&eva, &stale).await.assert_problem(412, "stale", None);
    let back = json!({"from": new, "to": old, "reason": "worse"});
    ops.with("if-match", "\"3\"").post("/admin/models/risk/rollback", back).await.assert_status(200);
    assert_eq!(ops.get(path).await.json()["champion"], old);
}

/// A canary that scores most customers is a champion in all but name.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_canary_for_many_takes_two(db: PgPool) {
    let app = app(db).await;
    let _follower = app.follow().await;
    let (eva, ops) = (app.operator_named("eva", "models:admin"), app.operator(Some("models:admin")));
    let path = "/admin/models/risk/deployment";
    let (old, new) = (version(&ops, "risk-2.0.0+").await, version(&ops, "risk-1.0.0+").await);
    let put = async |epoch: i64, percent: u8, flips: u8, status: u16| {
        let canary = json!({"version": new, "percent": percent, "max_flip_percent": flips});
        let body =
            json!({"champion": old, "canary": canary, "ends_canary": (epoch > 0).then_some(&new), "reason": "try"});
        ops.with("if-match", &format!("\"{epoch}\"")).put(path, body).await.assert_status(status).json()
    };
    put(0, 5, 10, 200).await;
    for (percent, flips) in [(6, 10), (5, 11), (99, 100)] {
        let proposed = put(1, percent, flips, 202).await;
        assert_eq!(proposed["action"]["versions"]["canary"]["percent"], percent);
        assert_eq!(ops.get(path).await.json()["epoch"], 1);
    }
    let all = put(1, 99, 100, 202).await;
    assert_eq!(approve(&eva, &all).await.assert_status(200).json()["canary"]["percent"], 99);
    // Ending it takes one.
    let none = json!({"champion": old, "ends_canary": new, "reason": "no"});
    ops.with("if-match", "\"2\"").put(path, none).await.assert_status(200);
}

/// Nothing older is deployed in any role, until two have lowered the minimum.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_lower_minimum_release_takes_two(db: PgPool) {
    let app = app(db).await;
    let _follower = app.follow().await;
    let (eva, ops) = (app.operator_named("eva", "models:admin"), app.operator(Some("models:admin")));
    let path = "/admin/models/risk/deployment";
    let (old, new) = (version(&ops, "risk-1.0.0+").await, version(&ops, "risk-2.0.0+").await);
    let put = async |epoch: u8, body: Value| {
        let body = with(json!({"champion": new, "reason": "a flaw"}), &body);
        ops.with("if-match", &format!("\"{epoch}\"")).put(path, body).await
    };
    let first = put(0, json!({"champion": old})).await.assert_status(202).json();
    approve(&eva, &first).await.assert_status(200);
    let second = put(1, json!({"minimum_release": "2.0.0"})).await.assert_status(202).json();
    approve(&eva, &second).await.assert_status(200);
    serving(&ops, "risk", 2, &new).await;
    assert!(app.models.snapshot().route::<Risk>().unwrap().fallback.is_none(), "an older one is no fallback");
    let canary = json!({"version": old, "percent": 5});
    let report = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for (body, field) in [
        (json!({"fork_report": &report[2..]}), "fork_report"),
        (json!({"fork_report": report.to_uppercase()}), "fork_report"),
        (json!({"champion": old}), "champion"),
        (json!({"canary": canary}), "canary.version"),
        (json!({"shadows": [old]}), "shadows"),
        (json!({"minimum_release": "9.0.0"}), "champion"),
        (json!({"minimum_release": "2"}), "minimum_release"),
    ] {
        refused(&app, put(2, body), 422, "validation-failed", Some(field)).await;
    }
    let rollout = json!({"canary": old, "reason": "try"});
    let back = json!({"from": new, "to": old, "reason": "worse"});
    for (path, body, field) in [("rollouts", rollout, "canary"), ("rollback", back, "to")] {
        let (at_two, path) = (ops.with("if-match", "\"2\""), format!("/admin/models/risk/{path}"));
        refused(&app, at_two.post(&path, body), 422, "validation-failed", Some(field)).await;
    }
    let proposed = put(2, json!({"minimum_release": "1.0.0", "canary": canary, "fork_report": report}))
        .await
        .assert_status(202)
        .json();
    assert_eq!(proposed["action"]["versions"]["minimumRelease"], "1.0.0");
    assert_eq!(proposed["action"]["versions"]["forkReport"], report);
    let deployed = approve(&eva, &proposed).await.assert_status(200).json();
    assert_eq!((&deployed["minimum_release"], &deployed["canary"]["version"]), (&json!("1.0.0"), &json!(old)));
    // What is left out stays, and raising it takes one.
    let raised = put(3, json!({"minimum_release": "2.0.0", "ends_canary": old})).await.assert_status(200).json();
    assert_eq!(put(4, json!({})).await.assert_status(200).json()["minimum_release"], raised["minimum_release"]);
    assert_sound(&app).await;
}

/// A version that was rolled back is promoted again: both operators know.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_second_operator_reads_what_the_first_confirmed(db: PgPool) {
    let app = app(db).await;
    let _follower = app.follow().await;
    let (eva, ops) = (app.operator_named("eva", "models:admin"), app.operator(Some("models:admin")));
    let path = "/admin/models/risk/deployment";
    let version = version(&ops, "risk-1.0.0+").await;
    let mut change = json!({"champion": version, "reason": "better"});
    let first = ops.with("if-match", "\"0\"").put(path, change.clone()).await.assert_status(202).json();
    approve(&eva, &first).await.assert_status(200);
    serving(&ops, "risk", 1, &version).await;
    roll_back(&ops, "risk", "worse").await.assert_status(200);
    let ops = ops.with("if-match", "\"2\"");
    refused(&app, ops.put(path, change.clone()), 422, "validation-failed", Some("despite_setback")).await;
    change["despite_setback"] = json!(version);
    let again = ops.put(path, change).await.assert_status(202).json();
    assert_eq!(again["action"]["versions"]["despiteSetback"], version);
    assert_eq!(first["action"]["versions"].get("despiteSetback"), None, "{first}");
    assert_eq!(approve(&eva, &again).await.assert_status(200).json()["champion"], version);
}
