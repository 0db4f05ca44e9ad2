//! Every host serves what is deployed, without a pause. A component that does not load changes nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use caudal::clock::Clock;
use caudal::db::components::{self, NewComponent, Registered};
use caudal::db::deployments::{self, Deployment};
use caudal::db::hosts;
use caudal::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass};
use caudal::ledger::store::Postgres;
use caudal::models::{Embedded, Models};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::PgPool;
use tokio::sync::Barrier;

use crate::assistance::{accessibility, risk};
use crate::harness::{Client, TestApp, ledger_key};

/// Longest time for a host to follow a deployment.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(2);

pub(crate) fn digest_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// The digest of an embedded component.
fn built_in(name: &str) -> Digest {
    digest_of(Embedded::find(name).unwrap().bytes)
}

/// Deploys a champion over the deployment with this epoch.
pub(crate) async fn deploy(db: &PgPool, kind: ModelKind, champion: Digest, seen_epoch: i64) -> Option<i64> {
    let now = Clock::system().now();
    let seen = Deployment { epoch: seen_epoch, ..Deployment::nothing(kind, built_in(kind.as_str())) };
    let next = Deployment { champion, ..seen.next("a test", "ops", now) };
    let done = deployments::deploy(&mut db.acquire().await.unwrap(), &ledger_key(), &next).await.unwrap();
    done.map(|it| it.epoch)
}

/// Registers bytes as a version of a kind.
pub(crate) async fn register(db: &PgPool, kind: ModelKind, version: &str, bytes: &[u8]) -> (Digest, Registered) {
    register_with(db, kind, version, bytes, json!({})).await
}

/// Registers a component with what the gate reported.
pub(crate) async fn register_with(
    db: &PgPool,
    kind: ModelKind,
    version: &str,
    bytes: &[u8],
    report: Value,
) -> (Digest, Registered) {
    let digest = digest_of(bytes);
    let model_version = ModelVersion::new(kind, version, digest);
    let (report, answers, by) = (Some(report), "none", "ops");
    let (class, model_version, signature) = (PolicyClass::Pure, &model_version, None);
    let new = NewComponent { digest, kind, version, model_version, class, bytes, report, answers, signature, by };
    // Nothing is recorded before a host came.
    Postgres::open(db.clone(), &ledger_key(), Clock::system().now()).await.unwrap();
    let mut db = db.acquire().await.unwrap();
    (digest, components::register(&mut db, &ledger_key(), &new, Clock::system().now()).await.unwrap())
}

/// Waits until a champion's version starts with this.
#[track_caller]
pub(crate) fn serves(models: &Models, version: &str) -> impl Future<Output = ()> {
    let (models, version, caller) = (models.clone(), version.to_owned(), std::panic::Location::caller());
    async move {
        let start = Instant::now();
        let kind = *ModelKind::ALL.iter().find(|kind| version.starts_with(kind.as_str())).unwrap();
        loop {
            let now = models.snapshot().identity(kind).unwrap().version.to_string();
            if now.starts_with(&version) {
                return;
            }
            assert!(start.elapsed() < FOLLOWS_WITHIN, "{caller}: {now} serves instead of {version}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn version(ai: &Client) -> String {
    let answer = ai.post("/ai/risk", risk()).await.assert_status(200).json();
    answer["model_version"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_host_follows_a_deployment_and_a_rollback(db: PgPool) {
    let (one, two) = (TestApp::new(db.clone()).await, TestApp::new(db.clone()).await);
    let _followers = (one.follow().await, two.follow().await);
    assert!(version(&one.ai()).await.starts_with("risk-2.0.0+"));
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-1"), 0).await, Some(1));
    serves(&one.models, "risk-1.0.0+").await;
    serves(&two.models, "risk-1.0.0+").await;
    assert!(version(&two.ai()).await.starts_with("risk-1.0.0+"));

    // A host that starts now serves it from its first answer on.
    let three = TestApp::new(db.clone()).await;
    let _third = three.follow().await;
    assert!(version(&three.ai()).await.starts_with("risk-1.0.0+"));

    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-2"), 0).await, None, "the operator saw an older deployment");
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-2"), 7).await, None, "or one that never existed");
    assert_eq!(deploy(&db, ModelKind::Nudge, built_in("nudge"), 3).await, None, "even if nothing was deployed");
    let deployed = deployments::deployments(&mut db.acquire().await.unwrap()).await.unwrap();
    let [deployed] = &deployed[..] else { panic!("{deployed:?}") };
    assert_eq!((deployed.champion, deployed.previous), (built_in("risk-1"), built_in("risk-2")));
    assert_eq!(deploy(&db, ModelKind::Risk, deployed.previous, 1).await, Some(2));
    for app in [&one, &two, &three] {
        serves(&app.models, "risk-2.0.0+").await;
    }
    let kept: i64 = sqlx::query_scalar("select count(*) from deployment_history").fetch_one(&db).await.unwrap();
    assert_eq!(kept, 2, "every change is kept");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_that_lost_its_listener_polls(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let deafen = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                  where query ilike 'listen %' and datname = current_database()";
    let ended: i64 = sqlx::query_scalar(deafen).fetch_one(&db).await.unwrap();
    assert!(ended > 0, "a host listened");
    assert!(version(&app.ai()).await.starts_with("risk-2.0.0+"), "scoring continues");
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-1"), 0).await, Some(1));
    serves(&app.models, "risk-1.0.0+").await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_component_that_does_not_load_changes_nothing_and_is_reported(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let (broken, registered) = register(&db, ModelKind::Risk, "9.9.9", b"\0asm\x0d\0\x01\0 no component").await;
    assert_eq!(registered, Registered::New);
    assert_eq!(deploy(&db, ModelKind::Risk, broken, 0).await, Some(1));
    let start = Instant::now();
    let error = loop {
        let health = app.ai().get("/ai/health").await.assert_status(200).json();
        if let Some(error) = health["models"]["risk"]["deployment_error"].as_str() {
            break error.to_owned();
        }
        assert!(start.elapsed() < FOLLOWS_WITHIN, "{health}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(error.starts_with("it does not load: the bytes do not compile"), "{error}");
    assert!(version(&app.ai()).await.starts_with("risk-2.0.0+"), "the version in service still answers");

    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-1"), 1).await, Some(2));
    serves(&app.models, "risk-1.0.0+").await;
    let error = async || app.ai().get("/ai/health").await.json()["models"]["risk"]["deployment_error"].clone();
    let start = Instant::now();
    while error().await != Value::Null {
        assert!(start.elapsed() < FOLLOWS_WITHIN, "the next deployment fixes it: {}", error().await);
    }

    // Without the deployed rules, no other rules may decide.
    let (broken, _) = register(&db, ModelKind::TransferRules, "9.9.9", b"no component").await;
    assert_eq!(deploy(&db, ModelKind::TransferRules, broken, 0).await, Some(1));
    let start = Instant::now();
    while app.models.snapshot().identity(ModelKind::TransferRules).is_some() {
        assert!(start.elapsed() < FOLLOWS_WITHIN, "the previous rules still decide");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.ai().get("/readyz").await.assert_status(503);
    assert_eq!(deploy(&db, ModelKind::TransferRules, built_in("transfer-rules"), 1).await, Some(2));
    while app.models.snapshot().identity(ModelKind::TransferRules).is_none() {
        assert!(start.elapsed() < FOLLOWS_WITHIN * 2, "the next deployment fixes it");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn bytes_that_were_exchanged_in_the_database_do_not_serve(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    // A sound component under the digest of an approved one.
    let other = Embedded::find("risk").unwrap().bytes;
    let exchange = "update component set bytes = $1 where sha256 = $2";
    let exchange = sqlx::query(exchange).bind(other).bind(&built_in("risk-1").0[..]).execute(&db).await.unwrap();
    assert_eq!(exchange.rows_affected(), 1);
    let serving = version(&app.ai()).await;
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-1"), 0).await, Some(1));
    let reason = refusal(&db).await;
    assert!(reason.contains("were altered: run `caudal verify`"), "{reason}");
    assert_eq!(version(&app.ai()).await, serving);
}

/// Why a host does not serve the deployed risk model.
async fn refusal(db: &PgPool) -> String {
    let start = Instant::now();
    loop {
        let live = hosts::live(&mut db.acquire().await.unwrap()).await.unwrap();
        let risk = live.iter().find(|(_, it)| it.kind == ModelKind::Risk);
        if let Some(reason) = risk.and_then(|(_, it)| it.state.detail().map(str::to_owned)) {
            return reason;
        }
        assert!(start.elapsed() < FOLLOWS_WITHIN, "the host does not say that it refuses the component");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Registers other answers for a component, as if a machine that computes other bits had examined it.
async fn answer_otherwise(db: &PgPool, digest: Digest) {
    let change = "update component set answers = left(answers, -1) || 'x' where sha256 = $1";
    assert_eq!(sqlx::query(change).bind(&digest.0[..]).execute(db).await.unwrap().rows_affected(), 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_component_that_answers_otherwise_than_when_it_was_registered_does_not_serve(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let serving = version(&app.ai()).await;
    answer_otherwise(&db, built_in("risk-1")).await;
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-1"), 0).await, Some(1));
    let reason = refusal(&db).await;
    assert!(reason.starts_with("its answers to the cases of the gate differ"), "{reason}");
    assert_eq!(version(&app.ai()).await, serving);

    // Nor does what a host is built with; other components do.
    answer_otherwise(&db, built_in("risk-2")).await;
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-2"), 1).await, Some(2));
    let other = TestApp::new(db.clone()).await;
    let _follower = other.follow().await;
    other.ai().post("/ai/risk", risk()).await.assert_status(503);
    other.ai().post("/ai/accessibility", accessibility()).await.assert_status(200);
    let health = other.ai().get("/ai/health").await.json();
    let reason = &health["models"]["risk"]["deployment_error"];
    assert!(reason.as_str().is_some_and(|it| it.starts_with("its answers to the cases")), "{health}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_only_counted_delays_no_deployment(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let mut locked = db.begin().await.unwrap();
    let lock = "lock table comparison, traffic, rollout, host_status in access exclusive mode";
    sqlx::query(lock).execute(&mut *locked).await.unwrap();
    let serving = version(&app.ai()).await;
    // The counts of that answer are due, and wait for the lock.
    let waiting = "select count(*) from pg_locks where not granted \
                   and database = (select oid from pg_database where datname = current_database())";
    let start = Instant::now();
    while app.count(waiting).await == 0 {
        assert!(start.elapsed() < FOLLOWS_WITHIN * 2, "nothing waits for the lock");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // It is loaded, so nothing has to be compiled.
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-2"), 0).await, Some(1));
    let start = Instant::now();
    while app.epoch(ModelKind::Risk) != 1 {
        assert!(start.elapsed() < FOLLOWS_WITHIN, "the deployment waits for the lock");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(version(&app.ai()).await, serving);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn scoring_continues_without_a_database(db: PgPool) {
    let (one, two) = (TestApp::new(db.clone()).await, TestApp::new(db.clone()).await);
    let followers = (one.follow().await, two.follow().await);
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-1"), 0).await, Some(1));
    serves(&one.models, "risk-1.0.0+").await;
    serves(&two.models, "risk-1.0.0+").await;
    drop(followers);
    for app in [&one, &two] {
        app.served.pool().close().await;
        assert!(version(&app.ai()).await.starts_with("risk-1.0.0+"));
        app.ai().get("/readyz").await.assert_status(503);
    }
}

/// Written into the database by hand, and perhaps back again.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_deployment_that_no_host_recorded_does_not_serve(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    for (seen, champion) in [(0, "risk-1"), (1, "risk-2")] {
        assert!(deploy(&db, ModelKind::Risk, built_in(champion), seen).await.is_some());
        serves(&app.models, champion).await;
    }
    let state = async |state: &str| {
        let reported = "select string_agg(state, ' ') from host_status where kind = 'risk'";
        let start = Instant::now();
        while app.text(reported).await != state {
            assert!(start.elapsed() < Duration::from_secs(20), "it is not {state}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ops = app.operator(Some("models:admin"));
    let exchange = |epoch| format!("update deployment set epoch = {epoch}, champion = previous, previous = champion");
    let earlier = |epoch| {
        format!(
            "update deployment d set epoch = h.epoch, champion = h.champion, previous = h.previous, reason = h.reason,
                has_fallback = h.has_fallback, changed_by = h.changed_by, changed_at = h.changed_at
            from deployment_history h where h.kind = 'risk' and h.epoch = {epoch}"
        )
    };
    for (forge, back) in [
        (exchange("epoch + 1"), exchange("epoch - 1")),
        (exchange("epoch"), exchange("epoch")),
        (earlier(1), earlier(2)),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(forge)).execute(&db).await.unwrap();
        state("failed").await;
        serves(&app.models, "risk-2").await;
        // Nor is it what a change goes by.
        ops.get("/admin/models/risk/deployment").await.assert_status(500);
        sqlx::query(sqlx::AssertSqlSafe(back)).execute(&db).await.unwrap();
        state("serving").await;
    }
    assert_eq!(deploy(&db, ModelKind::Risk, built_in("risk-1"), 2).await, Some(3));
    serves(&app.models, "risk-1").await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_pushed_version_names_one_component_forever(db: PgPool) {
    let (first, registered) = register(&db, ModelKind::Risk, "9.9.9", b"one").await;
    assert_eq!(registered, Registered::New);
    assert_eq!(register(&db, ModelKind::Risk, "9.9.9", b"one").await, (first, Registered::Known));
    assert_eq!(register(&db, ModelKind::Risk, "9.9.9", b"two").await.1, Registered::VersionTaken);
    assert_eq!(register(&db, ModelKind::Nudge, "9.9.9", b"three").await.1, Registered::New, "another kind may use it");
    let unknown = sqlx::query("update deployment set champion = $1").bind(&b"x"[..]).execute(&db).await;
    assert!(unknown.is_ok(), "no row to change");
    assert_eq!(components::list(&mut db.acquire().await.unwrap()).await.unwrap().len(), 2);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_earlier_version_answers_no_more_once_the_later_one_did(db: PgPool) {
    const CLIENTS: usize = 4;
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let champion = async |name: &str, epoch: i64| {
        assert_eq!(deploy(&db, ModelKind::Risk, built_in(name), epoch - 1).await, Some(epoch));
        serves(&app.models, &format!("{name}.")).await;
    };
    let ask = async |ai: &Client| {
        let answer = ai.post("/ai/risk", risk()).await.assert_status(200).json();
        answer["model_version"].as_str().unwrap().split('.').next().unwrap().to_owned()
    };
    champion("risk-1", 1).await;
    let asking = Arc::new(Barrier::new(CLIENTS + 1));
    let clients = (0..CLIENTS).map(|_| {
        let (ai, asking) = (app.ai(), asking.clone());
        tokio::spawn(async move {
            let mut models = vec![ask(&ai).await];
            asking.wait().await;
            while models.iter().filter(|model| *model == "risk-2").count() < 20 {
                models.push(ask(&ai).await);
                tokio::task::yield_now().await;
            }
            models
        })
    });
    let clients: Vec<_> = clients.collect();
    asking.wait().await;
    champion("risk-2", 2).await;
    for client in clients {
        let models = client.await.unwrap();
        assert_eq!(models[0], "risk-1", "the client asked before the swap");
        assert!(models.is_sorted(), "{models:?}");
    }
    champion("risk-1", 3).await;
    assert_eq!(ask(&app.ai()).await, "risk-1", "and back");
}
