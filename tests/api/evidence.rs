//! By whose decisions a rollout goes: those of distinct users, and of orders if they have consequences.

use std::time::Duration;

use caudal::domain::model::ModelKind;
use caudal::domain::risk::Enforcement;
use caudal::ledger::store::proof::prove;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use crate::admin::version;
use crate::approvals::{assert_found, assert_sound};
use crate::assistance::{risk, with};
use crate::harness::{Client, Options, PAYEE_CLABE, TestApp, ledger_key, on_screen};
use crate::rollout::until;
use crate::rollouts::{ask, asked, deployment, is_in_canary, latest, reaches, serves, start, with_canary};

/// Anybody can say so on the internal listener, and no rollout of `risk` goes by it.
pub(crate) async fn ask_risk_of_nobody(app: &TestApp, ops: &Client) {
    for user in 0..250 {
        let asked = with(risk(), &json!({"user_id": format!("user-{user}")}));
        app.ai().post("/ai/risk", asked).await.assert_status(200);
    }
    let report = async || ops.get("/admin/models/risk/report").await.json();
    until(report, |it| it["challengers"][0]["compared"].as_i64() > Some(100)).await;
    assert_eq!(latest(ops, "risk").await["evidence"]["decisions"], 0);
}

/// Asks for the risk of a transfer in a user's name, some times; returns the user with account and payee.
pub(crate) async fn ask_risk(app: &TestApp, user: u32, times: u32) -> (Client, String, String) {
    let user = app.user(&format!("user-{user}"));
    let (from, to) = (user.open_account(&Uuid::now_v7().to_string()).await, user.save_payee("Eva", PAYEE_CLABE).await);
    let path = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=1");
    let path = path + "&isNewDevice=false&geolocationChanged=false";
    for _ in 0..times {
        user.get(&path).await.assert_status(200);
    }
    (user, from, to)
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn one_customer_neither_advances_nor_stops_it(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    let _follower = app.follow().await;
    start(&ops, "nudge", asked(&canary)).await.assert_status(201);
    serves(&app, ModelKind::Nudge, 1, 1).await;
    let user = (0..).find(|user| is_in_canary(&canary, *user)).unwrap();
    let hard = with(on_screen("home"), &json!({"num_validation_errors": 9, "time_on_screen_seconds": 900}));
    for screen in [on_screen("home"), hard, on_screen("trap")] {
        let asked = with(screen, &json!({"user_id": format!("user-{user}")}));
        for _ in 0..150 {
            app.ai().post("/ai/nudge", asked.clone()).await.assert_status(200);
        }
    }
    let report = async || ops.get("/admin/models/nudge/report").await.json();
    until(report, |it| it["challengers"][0]["failed"]["trapped"] == 150).await;
    let running = latest(&ops, "nudge").await;
    assert_eq!((&running["state"], &running["step"]), (&json!("running"), &json!(0)), "{running}");
    assert_eq!(running["evidence"]["decisions"], 1, "{running}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_rollout_of_enforced_risk_goes_by_orders(db: PgPool) {
    let options = Options { risk_enforcement: Enforcement::Enforce, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some("models:admin"));
    let canary = version(&ops, "risk-1").await;
    start(&ops, "risk", with(asked(&canary), &json!({"steps": [99, 100]}))).await.assert_status(201);
    serves(&app, ModelKind::Risk, 1, 1).await;
    ask_risk_of_nobody(&app, &ops).await;
    let mut last = None;
    // The canary answers all of them.
    for user in 0..19 {
        last = Some(ask_risk(&app, user, 1).await);
    }
    let report = async || ops.get("/admin/models/risk/report").await.json();
    until(report, |it| it["challengers"][0]["compared"].as_i64() > Some(255)).await;
    assert_eq!(latest(&ops, "risk").await["evidence"]["decisions"], 0);
    let (user, from, to) = last.unwrap();
    user.transfer(&from, &to, "1").await.assert_problem(400, "risk-acknowledgment-required", None);
    reaches(&ops, "risk", |it| it["evidence"]["decisions"] == 1).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn counts_that_no_host_sealed_promote_nothing(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    let _follower = app.follow().await;
    start(&ops, "nudge", asked(&canary)).await.assert_status(201);
    serves(&app, ModelKind::Nudge, 1, 1).await;
    ask(&app, &on_screen("home"), 20).await;
    reaches(&ops, "nudge", |it| it["evidence"]["decisions"].as_i64() > Some(2)).await;
    assert_sound(&app).await;
    for change in [
        "kind = 'risk'",
        "epoch = 2",
        "sha256 = sha256('')",
        "host_id = gen_random_uuid()",
        "counts = replace(counts, '[[', '[[\"flip\", 0, 9], [')",
        "seal = sha256('')",
    ] {
        let mut transaction = db.begin().await.unwrap();
        let change = sqlx::AssertSqlSafe(format!("update rollout_evidence set {change}"));
        assert!(sqlx::query(change).execute(&mut *transaction).await.unwrap().rows_affected() > 0);
        let proof = prove(&mut transaction, &ledger_key()).await.unwrap();
        assert!(!proof.records.complaints.is_empty());
        transaction.rollback().await.unwrap();
    }
    let counts = r#"[["flip",0,100000],["champion-time",0,100000],["challenger-time",0,100000]]"#;
    let forge =
        "insert into rollout_evidence select kind, epoch, sha256, gen_random_uuid(), $1, seal from rollout_evidence";
    assert_eq!(sqlx::query(forge).bind(counts).execute(&db).await.unwrap().rows_affected(), 1);
    let report = "insert into comparison select distinct kind, epoch, sha256, m, 0, 100000
        from rollout_evidence, unnest(array['flip', 'champion-time', 'challenger-time']) as m
        on conflict (kind, epoch, sha256, measure, bucket) do update set count = 100000";
    assert!(sqlx::query(report).execute(&db).await.unwrap().rows_affected() > 0);
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(deployment(&ops, "nudge").await["epoch"], 1);
    assert!(latest(&ops, "nudge").await["evidence"]["decisions"].as_i64() < Some(80));
    assert_found(&app, &["rollout evidence nudge/1"]).await;
}
