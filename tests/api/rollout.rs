//! Challengers: a canary answers some users and is withdrawn if it fails, and shadows are only compared. The
//! previous version is the fallback of a champion that fails.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use caudal::domain::model::{ModelKind, ModelVersion};
use caudal::models::Embedded;
use caudal::scoring::Nudge;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::version;
use crate::assistance::{risk, with};
use crate::harness::{Answer, Client, TestApp, hostile, hostile_of, on_screen};
use crate::rollback::roll_back;
use crate::rollouts::serves;
use crate::swap::{digest_of, register};

const ADMIN: &str = "models:admin";

/// Longest wait for work that a host does every second.
const SOON: Duration = Duration::from_secs(30);

/// The nudge scorer of this program, and the hostile one, which has the same semantic version.
pub(crate) fn built_in_version() -> String {
    ModelVersion::new(ModelKind::Nudge, "1.0.0", digest_of(Embedded::find("nudge").unwrap().bytes)).to_string()
}

pub(crate) fn hostile_version() -> String {
    ModelVersion::new(ModelKind::Nudge, "1.0.0", digest_of(&hostile())).to_string()
}

/// Deploys, and waits until this host has followed.
async fn deploy(app: &TestApp, kind: ModelKind, mut body: Value) -> i64 {
    let ops = app.operator(Some(ADMIN));
    let path = format!("/admin/models/{kind}/deployment");
    let seen = ops.get(&path).await.header("etag").unwrap().to_owned();
    body["reason"] = json!("a test");
    let challengers = usize::from(body["canary"].is_object()) + body["shadows"].as_array().map_or(0, Vec::len);
    let done = ops.with("if-match", &seen).put(&path, body).await;
    let epoch = done.assert_status(200).json()["epoch"].as_i64().unwrap();
    // A champion does not wait for its challengers.
    serves(app, kind, epoch, challengers).await;
    epoch
}

/// Waits until an answer meets a condition.
pub(crate) async fn until(mut ask: impl AsyncFnMut() -> Value, wanted: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let answer = ask().await;
        if wanted(&answer) {
            return answer;
        }
        assert!(start.elapsed() < SOON, "{answer:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn report(ops: &Client, kind: &str, epoch: i64, wanted: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/admin/models/{kind}/report?epoch={epoch}");
    until(async || ops.get(&path).await.assert_status(200).json(), wanted).await
}

fn version_in(answer: &Answer) -> String {
    answer.assert_status(200).json()["model_version"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_canary_answers_the_same_tenth_of_the_users_on_every_host(db: PgPool) {
    let (one, two) = (TestApp::new(db.clone()).await, TestApp::new(db).await);
    let _followers = (one.follow().await, two.follow().await);
    let ops = one.operator(Some(ADMIN));
    let (champion, canary) = (version(&ops, "risk-2").await, version(&ops, "risk-1").await);
    let epoch = deploy(
        &one,
        ModelKind::Risk,
        json!({"champion": champion, "canary": {"version": canary, "percent": 10, "max_flip_percent": 100}}),
    )
    .await;
    serves(&two, ModelKind::Risk, epoch, 1).await;

    let mut met = BTreeMap::new();
    for user in 0..1000 {
        let asked = with(risk(), &json!({"user_id": format!("user-{user}")}));
        let answering = version_in(&one.ai().post("/ai/risk", asked.clone()).await);
        assert_eq!(version_in(&two.ai().post("/ai/risk", asked).await), answering, "user {user} sees one version");
        *met.entry(answering).or_insert(0) += 1;
    }
    // A tenth of a thousand, within five standard deviations.
    assert!((53..=147).contains(&met[&canary]), "{met:?}");
    assert_eq!(met[&canary] + met[&champion], 1000);
    // A request without a user always reaches the same version.
    let answering = version_in(&one.ai().post("/ai/risk", risk()).await);
    assert_eq!(version_in(&two.ai().post("/ai/risk", risk()).await), answering);

    // By its content, it may have been the canary that answered it.
    let answered = 2 * met[&canary] + if answering == canary { 2 } else { 0 };
    let report = report(&ops, "risk", epoch, |it| it["challengers"][0]["compared"] == answered).await;
    let seen = &report["challengers"][0];
    assert_eq!((&seen["version"], &seen["role"], &seen["percent"]), (&json!(canary), &json!("canary"), &json!(10)));
    assert_eq!((&report["champion"], &report["current"]), (&json!(champion), &json!(true)));
    // Both hosts compare every request, even of users outside the share.
    assert!(report["observed"].as_i64().unwrap() >= 2000, "{report}");
    let amount = report["features"].as_array().unwrap().iter().find(|it| it["feature"] == "amount").unwrap();
    assert!(amount["psi"].as_f64().unwrap() > 0.25, "a single amount is unlike the training data: {amount}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn shadows_are_compared_but_never_answer(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    register(&db, ModelKind::Nudge, "1.0.0", &hostile()).await;
    register(&db, ModelKind::Nudge, "1.0.7", &hostile_of("1.0.7")).await;
    let ops = app.operator(Some(ADMIN));
    let champion = built_in_version();
    let shadows = [hostile_version(), version(&ops, "nudge-1.0.7+").await];
    let epoch = deploy(&app, ModelKind::Nudge, json!({"champion": champion, "shadows": shadows})).await;

    // On a hard screen the champion offers help and the shadows, which always see little difficulty, do not.
    let hard = with(on_screen("home"), &json!({"num_validation_errors": 9, "time_on_screen_seconds": 900}));
    // One customer cannot stop them.
    let by_ana = with(on_screen("trap"), &json!({"user_id": "ana"}));
    for (asked, times) in [(hard, 30), (by_ana, 20), (on_screen("home"), 20), (on_screen("trap"), 2)] {
        for _ in 0..times {
            assert_eq!(version_in(&app.ai().post("/ai/nudge", asked.clone()).await), champion);
        }
    }
    let report = report(&ops, "nudge", epoch, |it| it["observed"] == 72).await;
    assert_eq!(report["dropped"], 0);
    for (shadow, version) in report["challengers"].as_array().unwrap().iter().zip(&shadows) {
        assert_eq!((&shadow["version"], &shadow["role"]), (&json!(version), &json!("shadow")));
        assert_eq!(shadow["classes"], json!(["assist", "info", "warning"]));
        assert_eq!(shadow["flips"], json!([[0, 0, 30], [0, 0, 0], [0, 0, 20]]), "{shadow:#}");
        assert_eq!((&shadow["compared"], &shadow["flip_share"]), (&json!(50), &json!(0.6)));
        assert_eq!(shadow["failed"], json!({"trapped": 22, "timed_out": 0, "bad_answer": 0}));
        assert!(shadow["difference"]["mean"].as_f64().unwrap() < -0.3, "{shadow:#}");
        assert_eq!(shadow["score_psi"], Value::Null, "fifty answers differ by chance: {shadow:#}");
        assert!(shadow["latency_us"]["challenger"]["p50"].as_f64().unwrap() >= 1.0, "{shadow:#}");
        assert_eq!(shadow["scores"]["champion"].as_array().unwrap().len(), 20);
        assert_eq!(shadow["withdrawn"], Value::Null);
    }
    let time = report["features"].as_array().unwrap().iter().find(|it| it["feature"] == "time_on_screen_seconds");
    assert_eq!((&time.unwrap()["psi"], &time.unwrap()["observed"]), (&Value::Null, &json!(72)));
    // Whatever a shadow does, answers continue.
    assert_eq!(version_in(&app.ai().post("/ai/nudge", on_screen("trap")).await), champion);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_canary_that_traps_is_withdrawn_and_the_champion_answers(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    register(&db, ModelKind::Nudge, "1.0.0", &hostile()).await;
    let ops = app.operator(Some(ADMIN));
    let champion = built_in_version();
    let canary = hostile_version();
    let canary = json!({"version": canary, "percent": 99, "max_flip_percent": 100});
    let epoch = deploy(&app, ModelKind::Nudge, json!({"champion": champion, "canary": canary})).await;
    let mut failed = 0;
    for user in 0..20 {
        let asked = with(on_screen(["trap", "loop", "nan"][user % 3]), &json!({"user_id": user.to_string()}));
        failed += usize::from(version_in(&app.ai().post("/ai/nudge", asked).await) == champion);
    }
    assert_eq!(failed, 20, "the champion answers whenever the canary fails");
    let now = until(
        async || ops.get("/admin/models/nudge/deployment").await.json(),
        |it| it["epoch"].as_i64() == Some(epoch + 1),
    )
    .await;
    assert_eq!(
        (&now["canary"], &now["champion"], &now["changed_by"]),
        (&Value::Null, &json!(champion), &json!("automatic"))
    );
    let reason = now["reason"].as_str().unwrap();
    // What the host saw at once, and what all hosts saw a second later, tell the same.
    let told = ["it failed for about 3 of 3 users, most recently because the model", "3 of 3 decisions failed"];
    assert!(told.iter().any(|it| reason.starts_with(&format!("canary withdrawn: {it}"))), "{reason}");
    let report = report(&ops, "nudge", epoch, |it| it["challengers"][0]["withdrawn"] == reason).await;
    let failures = report["challengers"][0]["failed"].as_object().unwrap().values().filter_map(Value::as_i64);
    // One in some three hundred times, two users of the first three are counted as one.
    assert!((3..=4).contains(&failures.sum::<i64>()), "it gets no request after the third: {report:#}");
    // By default a report is about the latest deployment with challengers.
    assert_eq!(ops.get("/admin/models/nudge/report").await.json()["epoch"], epoch);
    assert!(app.ai().get("/metrics").await.text.contains("caudal_model_canaries_withdrawn_total{kind=\"nudge\"} 1"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_canary_that_disagrees_too_often_is_withdrawn(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    register(&db, ModelKind::Nudge, "1.0.0", &hostile()).await;
    let ops = app.operator(Some(ADMIN));
    let champion = built_in_version();
    let canary = json!({"version": hostile_version(), "percent": 50});
    let epoch = deploy(&app, ModelKind::Nudge, json!({"champion": champion, "canary": canary})).await;
    for user in 0..500 {
        let hard = json!({"num_validation_errors": 9, "time_on_screen_seconds": 900, "user_id": user.to_string()});
        version_in(&app.ai().post("/ai/nudge", with(on_screen("home"), &hard)).await);
    }
    let now = until(
        async || ops.get("/admin/models/nudge/deployment").await.json(),
        |it| it["epoch"].as_i64() == Some(epoch + 1),
    )
    .await;
    let reason = now["reason"].as_str().unwrap();
    assert!(reason.contains("compared answers are in another class") && reason.ends_with("more than 10%"), "{reason}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_previous_version_is_the_fallback_of_a_failing_champion(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    register(&db, ModelKind::Nudge, "1.0.0", &hostile()).await;
    let ops = app.operator(Some(ADMIN));
    let before = built_in_version();
    let champion = hostile_version();
    deploy(&app, ModelKind::Nudge, json!({"champion": champion})).await;
    assert_eq!(version_in(&app.ai().post("/ai/nudge", on_screen("home")).await), champion);
    let answered = async |body: serde_json::Value| version_in(&app.ai().post("/ai/nudge", body).await);
    // One user falls back alone, however often.
    let trap = with(on_screen("trap"), &json!({"user_id": "ana"}));
    for _ in 0..20 {
        assert_eq!(answered(trap.clone()).await, before);
    }
    assert_eq!(answered(on_screen("home")).await, champion);
    let mut trapped = 20;
    loop {
        assert_eq!(answered(on_screen("nan")).await, before);
        if trapped == 20 {
            assert_eq!(answered(on_screen("home")).await, champion, "failing for two opens no circuit breaker");
        }
        assert_eq!(answered(on_screen("loop")).await, before);
        if answered(on_screen("home")).await == before {
            break;
        }
        // On a busy machine, the first failure was too long ago.
        assert!(trapped < 30, "failing for three opens the circuit breaker");
        assert_eq!(answered(trap.clone()).await, before);
        trapped += 1;
    }
    let metrics = app.ai().get("/metrics").await.text;
    let fallbacks = trapped + 2 * (trapped - 19) + 1;
    assert!(metrics.contains(&format!("caudal_model_fallbacks_total{{kind=\"nudge\"}} {fallbacks}")), "{metrics}");
    assert!(metrics.contains(&format!("outcome=\"trapped\"}} {trapped}")), "{metrics}");
    // After a rollback, the replaced version is not a fallback.
    roll_back(&ops, "nudge", "it loops").await.assert_status(200);
    until(async || json!(app.epoch(ModelKind::Nudge)), |it| *it == 2).await;
    assert!(app.models.snapshot().route::<Nudge>().unwrap().fallback.is_none());
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_canarys_share_has_one_bound(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some("models:admin"));
    let (second, first) = (version(&ops, "risk-2").await, version(&ops, "risk-1").await);
    for percent in [json!(-1), json!(100), json!(101), json!(1000), json!(null)] {
        let canary = json!({"version": first, "percent": percent});
        let change = json!({"champion": second, "canary": canary, "reason": "x"});
        let refused = ops.with("if-match", "\"0\"").put("/admin/models/risk/deployment", change).await;
        refused.assert_problem(422, "validation-failed", Some("canary.percent"));
        assert_eq!(refused.json()["errors"][0]["detail"], "must be from 0 to 99", "{percent}");
    }
    let document: Value = app.ai().get("/openapi.json").await.json();
    for schema in ["Canary", "CanaryRequest"] {
        let percent = &document["components"]["schemas"][schema]["properties"]["percent"];
        assert_eq!((&percent["minimum"], &percent["maximum"]), (&json!(0), &json!(99)), "{schema}: {percent}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_deployments_are_refused_by_field(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some("models:admin rules:admin"));
    let (second, first) = (version(&ops, "risk-2").await, version(&ops, "risk-1").await);
    let nudge = version(&ops, "nudge-1").await;
    let before = app.rows().await;
    let canary = |version: &str, percent: Value| json!({"version": version, "percent": percent});
    for (change, field) in [
        (json!({"canary": canary(&first, json!(100))}), "canary.percent"),
        (json!({"canary": canary(&first, json!(1.5))}), "canary.percent"),
        (json!({"canary": {"version": first}}), "canary.percent"),
        (json!({"canary": {"percent": 10}}), "canary.version"),
        (json!({"canary": {"version": first, "percent": 10, "max_flip_percent": 0}}), "canary.max_flip_percent"),
        (json!({"canary": {"version": first, "percent": 10, "max_flip_percent": 101}}), "canary.max_flip_percent"),
        (json!({"canary": "ten"}), "canary"),
        (json!({"canary": canary(&second, json!(10))}), "canary.version"),
        (json!({"canary": canary(&nudge, json!(10))}), "canary.version"),
        (json!({"shadows": [second]}), "shadows"),
        (json!({"shadows": [first, first]}), "shadows"),
        (json!({"shadows": [nudge]}), "shadows"),
        (json!({"shadows": "all"}), "shadows"),
        (json!({"shadows": [1]}), "shadows"),
        (json!({"shadows": [first, first, first, first, first]}), "shadows"),
        (json!({"canary": canary(&first, json!(10)), "shadows": [first]}), "shadows"),
    ] {
        let body = with(json!({"champion": second, "reason": "x"}), &change);
        let refused = ops.with("if-match", "\"0\"").put("/admin/models/risk/deployment", body).await;
        refused.assert_problem(422, "validation-failed", Some(field));
    }
    let rules = version(&ops, "transfer-rules-1").await;
    for (change, field) in
        [(json!({"canary": canary(&rules, json!(10))}), "canary"), (json!({"shadows": [first]}), "shadows")]
    {
        let body = with(json!({"champion": rules, "reason": "x"}), &change);
        let refused = ops.with("if-match", "\"0\"").put("/admin/models/transfer-rules/deployment", body).await;
        refused.assert_problem(422, "validation-failed", Some(field));
    }
    let nothing = ops.get("/admin/models/risk/report").await.assert_status(200).json();
    assert_eq!((&nothing["epoch"], &nothing["challengers"]), (&json!(0), &json!([])));
    ops.get("/admin/models/risk/report?epoch=7").await.assert_problem(404, "not-found", None);
    ops.get("/admin/models/risk/report?epoch=x").await.assert_problem(400, "validation-failed", Some("epoch"));
    assert_eq!(app.rows().await, before, "a refused request changes nothing");
}
