//! Rollouts: a canary's share grows on evidence, and stops without an operator.

use std::time::Duration;

use caudal::app::ApprovalPolicy;
use caudal::domain::model::ModelKind;
use caudal::domain::money::Money;
use caudal::ledger::store::proof::prove;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::version;
use crate::approvals::assert_sound;
use crate::assistance::with;
use crate::evidence::{ask_risk, ask_risk_of_nobody};
use crate::harness::{Answer, Client, Follower, Options, TestApp, hostile_of, ledger_key, on_screen, refused};
use crate::rollout::{built_in_version, until};
use crate::swap::register;

const ADMIN: &str = "models:admin";
const NUDGE: &str = "/admin/models/nudge/rollouts";

/// A host that follows, and a canary that agrees with the champion where nobody needs help, never finds that anybody
/// does, and fails on the screen `trap`.
pub(crate) async fn with_canary(db: &PgPool) -> (TestApp, Client, String) {
    let app = TestApp::new(db.clone()).await;
    register(db, ModelKind::Nudge, "1.0.7", &hostile_of("1.0.7")).await;
    let ops = app.operator(Some(ADMIN));
    // Registers what is built in.
    drop(app.follow().await);
    let canary = version(&ops, "nudge-1.0.7").await;
    (app, ops, canary)
}

/// Bounds that a hundred decisions can keep or violate, whatever else the machine does.
pub(crate) fn asked(canary: &str) -> Value {
    json!({"canary": canary, "steps": [40, 80, 100], "step_decisions": 80, "step_seconds": 0, "max_failure_percent": 10,
        "max_flip_percent": 10, "reason": "better recall"})
}

pub(crate) async fn start(ops: &Client, kind: &str, body: Value) -> Answer {
    let etag = ops.get(&format!("/admin/models/{kind}/deployment")).await.header("etag").unwrap().to_owned();
    ops.with("if-match", &etag).post(&format!("/admin/models/{kind}/rollouts"), body).await
}

pub(crate) async fn latest(ops: &Client, kind: &str) -> Value {
    ops.get(&format!("/admin/models/{kind}/rollouts")).await.assert_status(200).json()["rollouts"][0].clone()
}

pub(crate) async fn reaches(ops: &Client, kind: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    until(async || latest(ops, kind).await, wanted).await
}

/// Waits until a host serves a deployment with this many challengers.
pub(crate) async fn serves(app: &TestApp, kind: ModelKind, epoch: i64, challengers: usize) {
    let seen = async || json!([app.epoch(kind), app.challengers(kind)]);
    until(seen, |it| *it == json!([epoch, challengers])).await;
}

pub(crate) async fn ask(app: &TestApp, screen: &Value, users: u32) {
    for user in 0..users {
        let asked = with(screen.clone(), &json!({"user_id": format!("user-{user}")}));
        app.ai().post("/ai/nudge", asked).await.assert_status(200);
    }
}

pub(crate) async fn order(ops: &Client, order: &str) -> Answer {
    ops.post(&format!("{NUDGE}/{order}"), json!({"reason": "a test"})).await
}

/// As [`refused`], beside a host that goes on counting.
async fn rejected(answer: impl Future<Output = Answer>, status: u16, code: &str, field: Option<&str>) {
    answer.await.assert_problem(status, code, field);
}

pub(crate) async fn deployment(ops: &Client, kind: &str) -> Value {
    ops.get(&format!("/admin/models/{kind}/deployment")).await.assert_status(200).json()
}

async fn history(ops: &Client) -> Vec<(Value, Value, String)> {
    let all = ops.get("/admin/models/nudge/history").await.json();
    let row = |it: &Value| (it["changed_by"].clone(), it["canary"]["percent"].clone(), it["reason"].to_string());
    all["history"].as_array().unwrap().iter().rev().map(row).collect()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn it_advances_to_everybody_and_each_step_is_made_once_by_one_of_two_hosts(db: PgPool) {
    let (one, ops, canary) = with_canary(&db).await;
    let two = TestApp::new(db).await;
    let _followers = (one.follow().await, two.follow().await);
    let started = start(&ops, "nudge", asked(&canary)).await.assert_status(201).json();
    assert_eq!((&started["state"], &started["step"], &started["epoch"]), (&json!("running"), &json!(0), &json!(1)));
    for (epoch, step) in [(1, 0), (2, 1)] {
        for app in [&one, &two] {
            serves(app, ModelKind::Nudge, epoch, 1).await;
            ask(app, &on_screen("home"), 400).await;
        }
        reaches(&ops, "nudge", |it| it["step"] == step + 1).await;
    }
    let done = latest(&ops, "nudge").await;
    assert_eq!((&done["state"], &done["evidence"], &done["epoch"]), (&json!("completed"), &Value::Null, &json!(3)));
    let now = deployment(&ops, "nudge").await;
    assert_eq!((&now["champion"], &now["canary"], &now["fallback"]), (&json!(canary), &Value::Null, &json!(true)));
    assert_eq!((&now["setbacks"], &now["shadows"]), (&json!([]), &json!([built_in_version()])));
    let changes = history(&ops).await;
    let made: Vec<_> = changes.iter().map(|(by, percent, _)| (by.as_str().unwrap(), percent.as_i64())).collect();
    assert_eq!(made, [("ops", Some(40)), ("rollout", Some(80)), ("rollout", None)]);
    assert!(changes[2].2.contains("step 3 of 3 (100%) after") && changes[2].2.contains("better recall"), "{changes:?}");
    let records =
        "select string_agg(action || ' ' || actor, ', ' order by seq) from audit_record where subject = 'rollout'";
    assert_eq!(one.text(records).await, "start ops, advance rollout, advance rollout");
    assert_sound(&one).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn it_holds_without_evidence_and_goes_on_after_a_restart(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    let follower = app.follow().await;
    start(&ops, "nudge", with(asked(&canary), &json!({"step_seconds": 1}))).await.assert_status(201);
    serves(&app, ModelKind::Nudge, 1, 1).await;
    ask(&app, &on_screen("home"), 20).await;
    let seen = |it: &Value| it["evidence"]["decisions"].as_i64() > Some(2);
    let held = reaches(&ops, "nudge", seen).await;
    assert!(held["evidence"]["waits_for"].as_str().unwrap().contains("of 80 decisions"), "{held}");
    // An interval, not a bare share.
    let flips = &held["evidence"]["flips"];
    assert!(flips["share"] == 0.0 && flips["low"] == 0.0 && flips["high"].as_f64().unwrap() > 0.1, "{flips}");
    ask(&app, &on_screen("home"), 250).await;
    let enough = |it: &Value| it["evidence"]["decisions"].as_i64() >= Some(80);
    let held = reaches(&ops, "nudge", enough).await;
    // The test's clock stands still.
    assert_eq!((&held["step"], &held["evidence"]["waits_for"]), (&json!(0), &json!("0 of 1 s")));
    drop(follower);
    // Another program, with another clock.
    let app = TestApp::running(db, Options::default()).await;
    let _follower = app.follow().await;
    reaches(&ops, "nudge", |it| it["step"] == 1).await;
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn it_stops_on_failures_that_are_too_few_for_a_host_to_act_on(db: PgPool) {
    let (one, ops, canary) = with_canary(&db).await;
    let two = TestApp::new(db).await;
    let _followers = (one.follow().await, two.follow().await);
    start(&ops, "nudge", with(asked(&canary), &json!({"max_failure_percent": 1}))).await.assert_status(201);
    for app in [&one, &two] {
        serves(app, ModelKind::Nudge, 1, 1).await;
        // Two failures are one too few for a host to withdraw a canary.
        let mut failed = 0;
        for user in 0.. {
            let asked = with(on_screen("trap"), &json!({"user_id": format!("user-{user}")}));
            app.ai().post("/ai/nudge", asked).await.assert_status(200);
            failed += i32::from(is_in_canary(&canary, user));
            if failed == 2 {
                break;
            }
        }
    }
    let stopped = reaches(&ops, "nudge", |it| it["state"] == "stopped").await;
    // Of both hosts, or of the first before the other was asked.
    let detail = stopped["detail"].as_str().unwrap();
    assert!(["2 of 2", "3 of 3", "4 of 4"].iter().any(|it| detail.starts_with(it)), "{stopped}");
    let now = deployment(&ops, "nudge").await;
    assert_eq!((&now["champion"], &now["canary"]), (&json!(built_in_version()), &Value::Null));
    assert_eq!((&now["setbacks"][0]["version"], &now["setbacks"][0]["cause"]), (&json!(canary), &json!("withdrawn")));
    assert!(now["reason"].as_str().unwrap().starts_with("rollout stopped at 40%: "), "{now}");
    let mut stops = 0.0;
    for app in [&one, &two] {
        let metrics = app.ai().get("/metrics").await.text;
        let line = metrics.lines().find(|it| it.starts_with("caudal_model_rollouts_stopped_total{kind=\"nudge\"}"));
        stops += line.map_or(0.0, |it| it.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
    }
    assert_eq!(stops, 1.0);
    assert_eq!(history(&ops).await.len(), 2);
    // Once more only knowingly.
    rejected(start(&ops, "nudge", asked(&canary)), 422, "validation-failed", Some("despite_setback")).await;
    let anyway = with(asked(&canary), &json!({"despite_setback": canary}));
    start(&ops, "nudge", anyway).await.assert_status(201);
    assert_sound(&one).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_somebody_altered_does_not_advance(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    let _follower = app.follow().await;
    start(&ops, "nudge", asked(&canary)).await.assert_status(201);
    serves(&app, ModelKind::Nudge, 1, 1).await;
    sqlx::query("update rollout set step_decisions = 1, steps = '{40,100}'").execute(&db).await.unwrap();
    ask(&app, &on_screen("home"), 300).await;
    reaches(&ops, "nudge", |it| it["evidence"]["waits_for"].is_null()).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    // Nor does an operator seal it.
    rejected(order(&ops, "pause"), 412, "stale", None).await;
    assert_eq!(deployment(&ops, "nudge").await["epoch"], 1);
    let proof = prove(&mut app.db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
    assert_eq!(proof.records.complaints.len(), 1, "{:?}", proof.records.complaints);
}

pub(crate) fn is_in_canary(canary: &str, user: u32) -> bool {
    assert!(canary.starts_with("nudge-1.0.7"));
    caudal::models::serving::split::is_in_share(
        crate::swap::digest_of(&hostile_of("1.0.7")),
        &format!("user-{user}"),
        40,
    )
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn it_stops_on_flips_and_on_a_withdrawal_even_while_it_is_paused(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    let _follower = app.follow().await;
    start(&ops, "nudge", asked(&canary)).await.assert_status(201);
    serves(&app, ModelKind::Nudge, 1, 1).await;
    assert_eq!(order(&ops, "pause").await.assert_status(200).json()["state"], "paused");
    let hard = with(on_screen("home"), &json!({"num_validation_errors": 9, "time_on_screen_seconds": 900}));
    ask(&app, &hard, 60).await;
    let stopped = reaches(&ops, "nudge", |it| it["state"] == "stopped").await;
    assert!(stopped["detail"].as_str().unwrap().contains("compared answers are in another class"), "{stopped}");
    assert_eq!(deployment(&ops, "nudge").await["canary"], Value::Null);

    let anyway = with(asked(&canary), &json!({"despite_setback": canary}));
    start(&ops, "nudge", anyway).await.assert_status(201);
    serves(&app, ModelKind::Nudge, 3, 1).await;
    ask(&app, &on_screen("trap"), 30).await;
    let stopped = reaches(&ops, "nudge", |it| it["state"] == "stopped" && it["epoch"] == 3).await;
    let why = stopped["detail"].as_str().unwrap();
    assert!(why.contains("it failed for about") || why.contains("decisions failed"), "{stopped}");
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn operators_pause_resume_abort_and_replace_it(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    let _follower = app.follow().await;
    rejected(order(&ops, "pause"), 404, "not-found", None).await;
    start(&ops, "nudge", asked(&canary)).await.assert_status(201);
    rejected(start(&ops, "nudge", asked(&canary)), 409, "rollout-open", None).await;
    rejected(order(&ops, "resume"), 409, "rollout-state", None).await;
    order(&ops, "pause").await.assert_status(200);
    rejected(order(&ops, "pause"), 409, "rollout-state", None).await;
    serves(&app, ModelKind::Nudge, 1, 1).await;
    ask(&app, &on_screen("home"), 300).await;
    // Ready, and yet it stays.
    let ready = |it: &Value| it["evidence"]["waits_for"].is_null();
    reaches(&ops, "nudge", ready).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(latest(&ops, "nudge").await["step"], 0);
    order(&ops, "resume").await.assert_status(200);
    reaches(&ops, "nudge", |it| it["step"] == 1).await;
    let aborted = order(&ops, "abort").await.assert_status(200).json();
    assert_eq!((&aborted["state"], &aborted["detail"]), (&json!("aborted"), &json!("a test")));
    let now = deployment(&ops, "nudge").await;
    assert_eq!((&now["epoch"], &now["canary"], &now["setbacks"]), (&json!(3), &Value::Null, &json!([])));
    rejected(order(&ops, "abort"), 409, "rollout-state", None).await;

    // An operator who deploys something else ends it.
    start(&ops, "nudge", asked(&canary)).await.assert_status(201);
    let alone = json!({"champion": built_in_version(), "ends_canary": canary, "reason": "no trials today"});
    ops.with("if-match", "\"4\"").put("/admin/models/nudge/deployment", alone).await.assert_status(200);
    let ended = reaches(&ops, "nudge", |it| it["state"] == "replaced").await;
    assert_eq!((&ended["detail"], &ended["changed_by"]), (&json!("no trials today"), &json!("ops")));
    let all = ops.get(NUDGE).await.json();
    assert_eq!(all["rollouts"].as_array().unwrap().len(), 2);
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_no_rollout_is_refused_and_changes_nothing(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    for (change, field) in [
        (json!({"steps": [5, 25]}), "steps"),
        (json!({"steps": [100]}), "steps"),
        (json!({"steps": [25, 5, 100]}), "steps"),
        (json!({"steps": [0, 0, 100]}), "steps"),
        (json!({"steps": [5, 101]}), "steps"),
        (json!({"steps": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100]}), "steps"),
        (json!({"steps": "5,100"}), "steps"),
        (json!({"steps": [5.5, 100]}), "steps"),
        (json!({"step_decisions": 0}), "step_decisions"),
        (json!({"step_decisions": 10_000_001}), "step_decisions"),
        (json!({"step_seconds": 2_592_001}), "step_seconds"),
        (json!({"max_failure_percent": 0}), "max_failure_percent"),
        (json!({"max_flip_percent": 101}), "max_flip_percent"),
        (json!({"max_fuel_percent": 0}), "max_fuel_percent"),
        (json!({"on_violation": "stop"}), "on_violation"),
        (json!({"canary": built_in_version()}), "canary"),
        (json!({"canary": "nudge-9.0.0+00000000"}), "canary"),
        (json!({"despite_setback": "nudge-9.0.0+00000000"}), "despite_setback"),
        (json!({"fork_report": REPORT[1..]}), "fork_report"),
        // Nobody approves it.
        (json!({"fork_report": REPORT}), "fork_report"),
        (json!({"reason": ""}), "reason"),
        (json!({"reason": "a".repeat(501)}), "reason"),
    ] {
        let body = with(asked(&canary), &change);
        refused(&app, start(&ops, "nudge", body), 422, "validation-failed", Some(field)).await;
    }
    refused(&app, ops.post(NUDGE, asked(&canary)), 428, "if-match-required", None).await;
    refused(&app, ops.with("if-match", "\"7\"").post(NUDGE, asked(&canary)), 412, "stale", None).await;
    let rules = app.operator(Some("rules:admin"));
    refused(&app, rules.with("if-match", "*").post(NUDGE, asked(&canary)), 403, "insufficient-scope", None).await;
    let own = version(&rules, "transfer-rules-").await;
    let body = with(asked(&canary), &json!({"canary": own}));
    refused(&app, start(&rules, "transfer-rules", body), 422, "validation-failed", Some("canary")).await;
    refused(&app, ops.get("/admin/models/other/rollouts"), 404, "not-found", None).await;
    refused(&app, app.ai().get(NUDGE), 401, "unauthorized", None).await;
    assert_eq!(app.operator(Some("audit:read")).get(NUDGE).await.json(), json!({"rollouts": []}));
}

/// The digest of one of a fork.
const REPORT: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// A rollout whose promotion waits for a second operator, and its canary.
async fn at_its_last_step(db: PgPool) -> (TestApp, Follower, String) {
    let policy = ApprovalPolicy { lifetime: Duration::from_secs(3_600), limit: Money::from_minor(100_000) };
    let app = TestApp::with(db, Options { approvals: Some(policy), ..Options::default() }).await;
    let follower = app.follow().await;
    let ops = app.operator(Some(ADMIN));
    let canary = version(&ops, "risk-1").await;
    let change = json!({"steps": [60, 100], "max_flip_percent": 100, "fork_report": REPORT});
    let body = with(asked(&canary), &change);
    // More than one person may give to a canary.
    let proposed = start(&ops, "risk", body).await.assert_status(202).json();
    let (path, digest) = (format!("/admin/approvals/{}", proposed["id"].as_str().unwrap()), &proposed["digest"]);
    assert_eq!(app.epoch(ModelKind::Risk), 0);
    let eva = app.operator_named("eva", ADMIN);
    let started = eva.post(&format!("{path}/approve"), json!({"digest": digest})).await.assert_status(201).json();
    assert_eq!((&started["started_by"], &started["changed_by"]), (&json!("ops"), &json!("ops, approved by eva")));
    serves(&app, ModelKind::Risk, 1, 1).await;
    ask_risk_of_nobody(&app, &ops).await;
    for user in 0..180 {
        ask_risk(&app, user, 1).await;
    }
    reaches(&ops, "risk", |it| it["state"] == "waiting").await;
    (app, follower, canary)
}

fn place(rollout: &Value) -> String {
    format!("/admin/approvals/{}", rollout["approval"].as_str().unwrap())
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_aborted_rollout_leaves_nothing_to_approve(db: PgPool) {
    let (app, _follower, _) = at_its_last_step(db).await;
    let (ops, eva) = (app.operator(Some(ADMIN)), app.operator_named("eva", ADMIN));
    let waiting = reaches(&ops, "risk", |it| it["state"] == "waiting").await;
    ops.post("/admin/models/risk/rollouts/abort", json!({"reason": "not now"})).await.assert_status(200);
    assert_eq!(eva.get(&place(&waiting)).await.assert_status(200).json()["state"], "withdrawn");
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_last_step_waits_for_a_second_operator(db: PgPool) {
    let (app, _follower, canary) = at_its_last_step(db).await;
    let (ops, eva) = (app.operator(Some(ADMIN)), app.operator_named("eva", ADMIN));
    let waiting = reaches(&ops, "risk", |it| it["state"] == "waiting").await;
    assert_eq!(deployment(&ops, "risk").await["epoch"], 1);
    let nudge = json!({"canary": "nudge-9.0.0+00000000", "reason": "try", "fork_report": REPORT});
    refused(&app, start(&ops, "nudge", nudge), 422, "validation-failed", Some("fork_report")).await;
    let proposed = eva.get(&place(&waiting)).await.assert_status(200).json();
    assert_eq!((&proposed["proposedBy"], &proposed["action"]["type"]), (&json!("ops"), &json!("deploy")));
    let versions = &proposed["action"]["versions"];
    assert_eq!((&versions["champion"], &versions["forkReport"]), (&json!(canary), &json!(REPORT)));

    // Withdrawn, it waits for an operator to go on.
    eva.post(&format!("{}/withdraw", place(&waiting)), json!({})).await.assert_status(200);
    let paused = reaches(&ops, "risk", |it| it["state"] == "paused").await;
    assert!(paused["detail"].as_str().unwrap().contains("is withdrawn"), "{paused}");
    ops.post("/admin/models/risk/rollouts/resume", json!({"reason": "ask again"})).await.assert_status(200);
    let waiting = reaches(&ops, "risk", |it| it["state"] == "waiting").await;
    let proposed = eva.get(&place(&waiting)).await.assert_status(200).json();
    let approve = async |by: &Client| {
        by.post(&format!("{}/approve", place(&waiting)), json!({"digest": proposed["digest"]})).await
    };
    rejected(approve(&ops), 403, "second-person-required", None).await;
    approve(&eva).await.assert_status(200);
    let done = reaches(&ops, "risk", |it| it["state"] == "completed").await;
    assert_eq!(done["changed_by"], "ops, approved by eva");
    assert_eq!(deployment(&ops, "risk").await["champion"], json!(canary));
    assert_sound(&app).await;
}
