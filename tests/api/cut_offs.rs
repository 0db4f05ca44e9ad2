//! Where the levels of risk begin belongs to the deployment: all versions are judged by it, in answers, orders, comparisons
//! and replays, and published with the model.

use std::time::{Duration, Instant};

use caudal::db::hosts::HostState;
use caudal::domain::model::ModelKind;
use caudal::domain::risk::{CutOffs, Enforcement};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::{serving, version};
use crate::approvals::{self, approve, assert_found, assert_sound};
use crate::assistance::{risk, with};
use crate::contract_2::hostile_risk_2;
use crate::enforcement::{REQUIRED, send};
use crate::harness::{Answer, Client, Options, TestApp, refused};
use crate::rollback::roll_back;
use crate::swap::register;

const PATH: &str = "/admin/models/risk/deployment";

fn cut_offs(medium_from: f64, high_from: f64) -> Value {
    json!({"medium_from": medium_from, "high_from": high_from})
}

/// A transfer of a medium risk to a new payee.
fn unusual() -> Value {
    let changes = json!({
        "amount": 900, "is_new_beneficiary": true, "avg_transaction_amount": 1_000, "max_transaction_amount": 1_500,
        "num_transactions_to_beneficiary": 0,
    });
    with(risk(), &changes)
}

/// Puts these beside a champion in place of a deployment.
async fn put(ops: &Client, epoch: i64, champion: &str, cut_offs: &Value) -> Answer {
    let body = json!({"champion": champion, "cut_offs": cut_offs, "reason": "a test"});
    ops.with("if-match", &format!("\"{epoch}\"")).put(PATH, body).await
}

/// Score, level and version of an answer.
fn verdict(answer: &Value) -> (f64, &str, &str) {
    let result = &answer["result"];
    let version = answer["model_version"].as_str().unwrap();
    (result["risk_score"].as_f64().unwrap(), result["risk_level"].as_str().unwrap(), version)
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_version_is_judged_by_those_of_the_deployment(db: PgPool) {
    let options =
        Options { risk_enforcement: Enforcement::Enforce, published: vec![ModelKind::Risk], ..Options::default() };
    let app = TestApp::with(db.clone(), options).await;
    let _follower = app.follow().await;
    let (ai, ops, ana) = (app.ai(), app.operator(Some("models:admin")), app.user("ana"));
    let (from, to) = ana.account_and_payee().await;
    let champion = version(&ops, "risk-2.0.0+").await;
    let asked = unusual();
    let ask = async || ai.post("/ai/risk", asked.clone()).await.assert_status(200).json();
    let context =
        format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=100&isNewDevice=false");
    let of_order = async || ana.get(&context).await.assert_status(200).json()["assessment"].clone();
    let usual = ask().await;
    let (score, level, _) = verdict(&usual);
    assert_eq!(level, "medium");
    let before = of_order().await;
    let (of_ana, ..) = verdict(&before);

    // Each begins with its cut-off: what was medium is high, of orders too.
    let most = score.min(of_ana);
    let told = put(&ops, 0, &champion, &cut_offs(most / 2.0, most)).await.assert_status(200).json();
    assert_eq!(told["cut_offs"], cut_offs(most / 2.0, most));
    serving(&ops, "risk", 1, &champion).await;
    assert_eq!(verdict(&ask().await), (score, "high", &*champion));
    assert_eq!(verdict(&of_order().await), (of_ana, "high", &*champion));
    send(&ana, (&from, &to), 100.0, true, None).await.assert_problem(400, REQUIRED, None);
    // And low below it.
    let least = score.max(of_ana).next_up();
    put(&ops, 1, &champion, &cut_offs(least, 1.0)).await.assert_status(200);
    serving(&ops, "risk", 2, &champion).await;
    assert_eq!(verdict(&ask().await), (score, "low", &*champion));
    send(&ana, (&from, &to), 100.0, true, None).await.assert_status(200);

    // A version of contract 2 that takes its place, the one that answers where it abstains, and the one that a rollback
    // returns to are judged alike.
    let abstaining = hostile_risk_2("abstains-new");
    register(&db, ModelKind::Risk, "6.6.6", &abstaining).await;
    let other = version(&ops, "risk-6.6.6+").await;
    put(&ops, 2, &other, &cut_offs(0.1, score)).await.assert_status(200);
    serving(&ops, "risk", 3, &other).await;
    assert_eq!(verdict(&ask().await), (score, "high", &*champion), "the fallback");
    let of_other = ai.post("/ai/risk", risk()).await.assert_status(200).json();
    let (eighth, level, by) = verdict(&of_other);
    assert!(level == "medium" && by == other && (0.125..0.13).contains(&eighth), "{of_other}");
    roll_back(&ops, "risk", "worse").await.assert_status(200);
    serving(&ops, "risk", 4, &champion).await;
    assert_eq!(verdict(&ask().await), (score, "high", &*champion), "a rollback keeps them");
    let history = ops.get("/admin/models/risk/history").await.json()["history"].clone();
    let kept = history.as_array().unwrap().iter().map(|it| &it["cut_offs"]);
    let want = [cut_offs(0.1, score), cut_offs(0.1, score), cut_offs(least, 1.0), cut_offs(most / 2.0, most)];
    assert!(kept.eq(&want), "{history}");

    // Each decision is kept with those by which it was judged.
    let judged: Vec<_> = app.decisions(ModelKind::Risk).await.iter().map(|it| it.by.cut_offs).collect();
    assert_eq!(judged, [CutOffs { medium_from: least, high_from: 1.0 }]);
    assert_sound(&app).await;
}

/// Otherwise what is only another scale of one model would look like another opinion.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn challengers_are_compared_by_the_same(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let (ops, shadow) = (app.operator(Some("models:admin")), hostile_risk_2("sane"));
    register(&db, ModelKind::Risk, "6.6.6", &shadow).await;
    let (champion, shadow) = (version(&ops, "risk-2.0.0+").await, version(&ops, "risk-6.6.6+").await);
    let asked = with(risk(), &json!({"is_new_beneficiary": true}));
    // An eighth and a quarter.
    let change =
        json!({"champion": champion, "shadows": [shadow], "cut_offs": cut_offs(0.01, 0.02), "reason": "a test"});
    ops.with("if-match", "\"0\"").put(PATH, change).await.assert_status(200);
    serving(&ops, "risk", 1, &champion).await;
    app.ai().post("/ai/risk", asked).await.assert_status(200);
    let seen = "select count(*) from comparison where measure = 'flip' and bucket = 34";
    let start = Instant::now();
    while app.count(seen).await == 0 {
        let all = "select coalesce(string_agg(measure || ' ' || bucket, ', '), '') from comparison";
        assert!(start.elapsed() < Duration::from_secs(10), "both are high: {}", app.text(all).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn pages_that_follow_a_model_see_them(db: PgPool) {
    let options = Options { published: vec![ModelKind::Risk, ModelKind::Nudge], ..Options::default() };
    let app = TestApp::with(db, options).await;
    let _follower = app.follow().await;
    let (anon, ops) = (app.anon(), app.operator(Some("models:admin")));
    let active = async |etag: &str| anon.with("if-none-match", etag).get("/models/risk/active").await;
    let first = active("\"none\"").await;
    let (etag, body) = (first.header("etag").unwrap(), first.assert_status(200).json());
    assert_eq!(body["cut_offs"], cut_offs(0.25, 0.75));
    assert_eq!(body["facts"].as_str().unwrap().len(), 64);
    assert_eq!(body["words"].as_object().unwrap().len(), 7, "six factors, and what models say");
    assert!(body["words"].as_object().unwrap().values().all(|it| it["es"].is_string() && it["en"].is_string()));
    active(etag).await.assert_status(304);
    let champion = version(&ops, "risk-2.0.0+").await;
    put(&ops, 0, &champion, &cut_offs(0.2, 0.6)).await.assert_status(200);
    serving(&ops, "risk", 1, &champion).await;
    let changed = with(body, &json!({"cut_offs": cut_offs(0.2, 0.6)}));
    assert_eq!(active(etag).await.assert_status(200).json(), changed, "the same files");
    let nudge = anon.get("/models/nudge/active").await.assert_status(200).json();
    assert!(["cut_offs", "facts", "words"].iter().all(|it| nudge.get(it).is_none()), "{nudge}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn numbers_that_leave_out_a_level_are_refused(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some("models:admin"));
    let champion = version(&ops, "risk-2.0.0+").await;
    for (medium_from, high_from, field) in [
        (0.0, 0.5, "cut_offs.medium_from"),
        (-0.1, 0.5, "cut_offs.medium_from"),
        (0.5, 0.5, "cut_offs.high_from"),
        (0.6, 0.5, "cut_offs.high_from"),
        (0.5, 1.1, "cut_offs.high_from"),
    ] {
        let refusal = put(&ops, 0, &champion, &cut_offs(medium_from, high_from)).await;
        let found = refusal.json()["errors"][0]["field"].clone();
        assert!(refusal.status.is_client_error() && found == field, "{refusal:?}");
    }
    put(&ops, 0, &champion, &json!({"high_from": 0.5})).await.assert_status(422);
    let nudge = version(&ops, "nudge-").await;
    let body = json!({"champion": nudge, "cut_offs": cut_offs(0.2, 0.6), "reason": "a test"});
    let ops = ops.with("if-match", "\"0\"");
    let others = ops.put("/admin/models/nudge/deployment", body);
    refused(&app, others, 422, "validation-failed", Some("cut_offs")).await;
}

/// Cut-offs decide which transfers are held up, as a champion does.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn others_take_two_who_see_both_and_a_record_of_their_own(db: PgPool) {
    let app = approvals::app(db).await;
    let _follower = app.follow().await;
    let (eva, ops) = (app.operator_named("eva", "models:admin"), app.operator(Some("models:admin")));
    let champion = version(&ops, "risk-2.0.0+").await;
    let proposed = put(&ops, 0, &champion, &cut_offs(0.2, 0.6)).await.assert_status(202).json();
    let seen = json!({"before": cut_offs(0.25, 0.75), "after": cut_offs(0.2, 0.6)});
    assert_eq!(proposed["action"]["versions"]["cutOffs"], seen);
    assert_eq!(ops.get(PATH).await.json()["cut_offs"], cut_offs(0.25, 0.75));
    let deployed = approve(&eva, &proposed).await.assert_status(200).json();
    assert_eq!((&deployed["cut_offs"], &deployed["changed_by"]), (&seen["after"], &json!("ops, approved by eva")));
    // Back to the defaults takes two as well; what states none takes one and keeps them.
    put(&ops, 1, &champion, &cut_offs(0.25, 0.75)).await.assert_status(202);
    let none = put(&ops, 1, &champion, &Value::Null).await.assert_status(200).json();
    assert_eq!(none["cut_offs"], cut_offs(0.2, 0.6));
    let again = put(&ops, 2, &champion, &cut_offs(0.3, 0.6)).await.assert_status(202).json();
    approve(&eva, &again).await.assert_status(200);
    serving(&ops, "risk", 3, &champion).await;
    let records = "select string_agg(subject_key || ' ' || action, ', ' order by seq) from audit_record \
                   where subject = 'deployment'";
    // The first is a deployment, too.
    let want = "risk/1 deploy, risk/1 cut-offs, risk/2 deploy, risk/3 cut-offs";
    assert_eq!(app.text(records).await, want);
    assert_sound(&app).await;

    // Who moves them past all that is found, and no host follows.
    for altered in
        ["update deployment set medium_from = 0.5", "update deployment_history set medium_from = 0.5 where epoch = 3"]
    {
        sqlx::query(altered).execute(&app.db).await.unwrap();
        put(&ops, 3, &champion, &Value::Null).await.assert_status(500);
    }
    assert_found(&app, &["deployment risk/3: was altered"]).await;
    let start = Instant::now();
    while !matches!(app.models.status(ModelKind::Risk).unwrap().state, HostState::Failed(_)) {
        assert!(start.elapsed() < Duration::from_secs(10), "the host does not refuse it");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let judged = app.ai().post("/ai/risk", unusual()).await.json();
    assert_eq!(verdict(&judged).1, "medium");
}
