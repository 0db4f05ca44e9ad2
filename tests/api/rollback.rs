//! Rolling back: twice is once, and only to where the operator wants.

use caudal::domain::model::ModelKind;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::admin::{serving, version};
use crate::harness::{Answer, Client, TestApp, hostile_of, refused};
use crate::rollout::until;
use crate::swap::register;

const ROLLBACK: &str = "/admin/models/risk/rollback";
const DEPLOYMENT: &str = "/admin/models/risk/deployment";

/// Rolls back what is deployed, to the version that the deployment names.
pub(crate) async fn roll_back(ops: &Client, kind: &str, reason: &str) -> Answer {
    roll_back_to(ops, kind, "rollback_to", reason).await
}

async fn roll_back_to(ops: &Client, kind: &str, target: &str, reason: &str) -> Answer {
    let seen = ops.get(&format!("/admin/models/{kind}/deployment")).await;
    let deployed = seen.assert_status(200).json();
    let ops = ops.with("if-match", seen.header("etag").unwrap());
    let body = json!({"from": deployed["champion"], "to": deployed[target], "reason": reason});
    ops.post(&format!("/admin/models/{kind}/rollback"), body).await
}

/// risk-1 serves as deployment 1, after the built-in risk-2. Returns the names of both.
async fn first_deployed(app: &TestApp) -> (Client, String, String) {
    let ops = app.operator(Some("models:admin"));
    let (first, second) = (version(&ops, "risk-1.0.0+").await, version(&ops, "risk-2.0.0+").await);
    let change = json!({"champion": first, "reason": "try it"});
    ops.with("if-match", "\"0\"").put(DEPLOYMENT, change).await.assert_status(200);
    serving(&ops, "risk", 1, &first).await;
    (ops, first, second)
}

fn naming(from: &str, to: &str) -> Value {
    json!({"from": from, "to": to, "reason": "enough seen"})
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_repeated_rollback_changes_nothing(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let (ops, first, second) = first_deployed(&app).await;
    let back = ops.with("if-match", "\"1\"").post(ROLLBACK, naming(&first, &second)).await.assert_status(200).json();
    assert_eq!((&back["epoch"], &back["champion"], &back["previous"]), (&json!(2), &json!(second), &json!(first)));
    // The host notes in the history that it served.
    serving(&ops, "risk", 2, &second).await;
    let before = app.rows().await;
    for seen in ["\"1\"", "\"2\"", "\"7\"", "*"] {
        let again = ops.with("if-match", seen).post(ROLLBACK, naming(&first, &second)).await;
        assert_eq!(again.header("etag"), Some("\"2\""), "{again:?}");
        assert_eq!(again.assert_status(200).json(), back, "{seen}");
    }
    assert_eq!(app.rows().await, before);
    // Another rollback is not a repeated one.
    let stale = ops.with("if-match", "\"1\"");
    refused(&app, stale.post(ROLLBACK, naming(&second, &first)), 412, "stale", None).await;
    // Nor is one that another deployment followed.
    let change = json!({"champion": second, "shadows": [first], "reason": "compare"});
    ops.with("if-match", "\"2\"").put(DEPLOYMENT, change).await.assert_status(200);
    serving(&ops, "risk", 3, &second).await;
    refused(&app, stale.post(ROLLBACK, naming(&first, &second)), 412, "stale", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn of_parallel_rollbacks_one_changes_the_deployment(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let (ops, first, second) = first_deployed(&app).await;
    let ops = ops.with("if-match", "\"1\"");
    let calls = (0..8).map(|_| {
        let (ops, body) = (ops.clone(), naming(&first, &second));
        tokio::spawn(async move { ops.post(ROLLBACK, body).await })
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        let answer = call.await.unwrap();
        let answer = answer.assert_status(200).json();
        assert_eq!((&answer["champion"], &answer["epoch"]), (&json!(second), &json!(2)), "{answer}");
    }
    assert_eq!(app.count("select count(*) from deployment_history").await, 2);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_rollback_names_its_versions_and_what_was_seen(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let (ops, first, second) = first_deployed(&app).await;
    refused(&app, ops.post(ROLLBACK, naming(&first, &second)), 428, "if-match-required", None).await;
    let stale = ops.with("if-match", "\"0\"");
    refused(&app, stale.post(ROLLBACK, naming(&first, &second)), 412, "stale", None).await;
    let ops = ops.with("if-match", "\"1\"");
    for (body, field) in [
        (json!({"to": second, "reason": "x"}), "from"),
        (json!({"from": first, "reason": "x"}), "to"),
        (naming(&second, &first), "from"),
        (naming(&first, &first), "to"),
        (naming(&first, "risk-9.9.9+00000000"), "to"),
    ] {
        refused(&app, ops.post(ROLLBACK, body), 422, "validation-failed", Some(field)).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_rollback_never_promotes_a_challenger(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let (ops, first, second) = first_deployed(&app).await;
    roll_back(&ops, "risk", "it is worse").await.assert_status(200);
    serving(&ops, "risk", 2, &second).await;
    let challengers = [
        (2, json!({"champion": second, "canary": {"version": first, "percent": 1}, "reason": "a second try"})),
        (4, json!({"champion": second, "shadows": [first], "reason": "only compare"})),
    ];
    for (seen, challenger) in challengers {
        let ops = ops.with("if-match", &format!("\"{seen}\""));
        let deployed = ops.put(DEPLOYMENT, challenger).await.assert_status(200).json();
        serving(&ops, "risk", seen + 1, &second).await;
        assert_eq!((&deployed["previous"], &deployed["rollback_to"]), (&json!(first), &json!(second)));
        let to_challenger = roll_back_to(&ops, "risk", "previous", "stop it");
        refused(&app, to_challenger, 422, "validation-failed", Some("to")).await;
        // No other champion ever served, so a rollback only ends the trial; repeated, it changes nothing.
        for _ in 0..2 {
            let body = json!({"from": second, "to": second, "reason": "stop it"});
            let back = ops.with("if-match", &format!("\"{}\"", seen + 1)).post(ROLLBACK, body).await;
            let back = back.assert_status(200).json();
            assert_eq!((&back["epoch"], &back["champion"]), (&json!(seen + 2), &json!(second)));
            assert_eq!((&back["canary"], &back["shadows"]), (&Value::Null, &json!([])));
        }
    }
}

/// After a rollback its second try is the canary, and the champion before is the one that served before both.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_rollback_past_a_canary_returns_to_the_champion_before_it(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let mut versions = Vec::new();
    for version in ["1.0.7", "1.0.8"] {
        register(&db, ModelKind::Nudge, version, &hostile_of(version)).await;
    }
    let ops = app.operator(Some("models:admin"));
    for start in ["nudge-1.0.0+", "nudge-1.0.7+", "nudge-1.0.8+"] {
        versions.push(version(&ops, start).await);
    }
    let [oldest, champion, canary] = &versions[..] else { unreachable!() };
    let put = async |epoch: i64, change: Value| {
        let ops = ops.with("if-match", &format!("\"{epoch}\""));
        ops.put("/admin/models/nudge/deployment", change).await.assert_status(200).json()
    };
    for (epoch, version) in versions.iter().enumerate() {
        let epoch = i64::try_from(epoch).unwrap();
        put(epoch, json!({"champion": version, "reason": "next"})).await;
        serving(&ops, "nudge", epoch + 1, version).await;
    }
    roll_back(&ops, "nudge", "it loops").await.assert_status(200);
    serving(&ops, "nudge", 4, champion).await;
    let tried =
        put(4, json!({"champion": champion, "canary": {"version": canary, "percent": 5}, "reason": "again"})).await;
    assert_eq!((&tried["previous"], &tried["rollback_to"]), (&json!(canary), &json!(oldest)));
    let back = roll_back(&ops, "nudge", "neither").await.assert_status(200).json();
    assert_eq!((&back["champion"], &back["canary"]), (&json!(oldest), &Value::Null));
    serving(&ops, "nudge", 6, oldest).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn if_match_is_a_list_of_exact_tags_or_a_star(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some("models:admin"));
    let first = version(&ops, "risk-1.0.0+").await;
    let change = json!({"champion": first, "reason": "try it"});
    for other in ["\"00\"", "\"+0\"", "W/\"0\"", "0", "\"1\", \"2\""] {
        refused(&app, ops.with("if-match", other).put(DEPLOYMENT, change.clone()), 412, "stale", None).await;
    }
    for (seen, epoch) in [("\"7\", \"0\"", 1), ("*", 2)] {
        let done = ops.with("if-match", seen).put(DEPLOYMENT, change.clone()).await;
        assert_eq!(done.assert_status(200).json()["epoch"], epoch, "{seen}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_champion_before_is_a_shadow_for_a_day_and_a_rollback_returns_to_it(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let (ops, first, second) = first_deployed(&app).await;
    let change = json!({"champion": second, "shadows": [first], "reason": "better"});
    ops.with("if-match", "\"1\"").put(DEPLOYMENT, change).await.assert_status(200);
    serving(&ops, "risk", 2, &second).await;
    assert_eq!(ops.get(DEPLOYMENT).await.assert_status(200).json()["rollback_to"], json!(first));
    let back = ops.with("if-match", "\"2\"").post(ROLLBACK, naming(&second, &first)).await.assert_status(200).json();
    assert_eq!((&back["champion"], &back["shadows"]), (&json!(first), &json!([])));
    serving(&ops, "risk", 3, &first).await;

    let champion = json!({"champion": second, "shadows": [first], "reason": "again", "despite_setback": second});
    ops.with("if-match", "\"3\"").put(DEPLOYMENT, champion).await.assert_status(200);
    serving(&ops, "risk", 4, &second).await;
    app.clock.advance(Duration::hours(24) - Duration::SECOND);
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(app.epoch(ModelKind::Risk), 4, "the day is not over");
    app.clock.advance(Duration::SECOND);
    until(async || json!(app.epoch(ModelKind::Risk)), |it| *it == 5).await;
    let now = app.operator(Some("models:admin")).get(DEPLOYMENT).await.assert_status(200).json();
    assert_eq!((&now["champion"], &now["shadows"]), (&json!(second), &json!([])));
    assert_eq!(now["changed_by"], "automatic");
}
