//! Transfer rules are swapped like models, but have no fallback.

use std::time::{Duration, Instant};

use caudal::domain::model::{ModelKind, ModelVersion};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::{serving, version};
use crate::fixtures::fixture;
use crate::harness::{PAYEE_CLABE, TestApp, refused};
use crate::rollback::roll_back;
use crate::rollout::until;
use crate::swap::{digest_of, register};

/// Registers rules that trap on 6.66 and allow everything else.
async fn register_hostile(db: &PgPool) -> String {
    let bytes = fixture("hostile-rules.wasm");
    register(db, ModelKind::TransferRules, "6.6.6", &bytes).await;
    ModelVersion::new(ModelKind::TransferRules, "6.6.6", digest_of(&bytes)).to_string()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn shadows_of_rules_decide_nothing_and_are_compared(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let (ana, ops) = (app.user("ana"), app.operator(Some("rules:admin")));
    let (account, payee) = ana.account_and_payee().await;
    let hostile = register_hostile(&db).await;
    let champion = version(&ops, "transfer-rules-1").await;
    let path = "/admin/models/transfer-rules/deployment";
    let canary = json!({"champion": champion, "canary": {"version": hostile, "percent": 0}, "reason": "no"});
    refused(&app, ops.with("if-match", "\"0\"").put(path, canary), 422, "validation-failed", Some("canary")).await;
    let change = json!({"champion": champion, "shadows": [hostile], "reason": "would they refuse less?"});
    let deployed = ops.with("if-match", "\"0\"").put(path, change).await.assert_status(200).json();
    assert_eq!(deployed["shadows"], json!([hostile]));
    serving(&ops, "transfer-rules", 1, &champion).await;
    for amount in ["1.00", "6.66", "2.00"] {
        ana.transfer(&account, &payee, amount).await.assert_status(200);
    }
    // They would have allowed it, and do not decide.
    ana.transfer(&account, &payee, "20000").await.assert_problem(400, "insufficient-funds", Some("amount"));
    assert_eq!(ana.balance().await, "9990.34");
    let report = async || ops.get("/admin/models/transfer-rules/report").await.assert_status(200).json();
    let seen = until(report, |it| it["observed"] == 4 && it["challengers"][0]["compared"] == 3).await;
    let shadow = &seen["challengers"][0];
    assert_eq!((&shadow["version"], &shadow["role"]), (&json!(hostile), &json!("shadow")));
    assert_eq!(shadow["classes"], json!(["accepted", "rejected", "reviewed"]));
    assert_eq!(shadow["flips"], json!([[2, 0, 0], [1, 0, 0], [0, 0, 0]]));
    assert_eq!((&shadow["failed"]["trapped"], &shadow["score_psi"]), (&json!(1), &Value::Null));
}

async fn wait_for(app: &TestApp, version: &str) {
    let start = Instant::now();
    while app.models.snapshot().identity(ModelKind::TransferRules).unwrap().version.as_str() != version {
        assert!(start.elapsed() < Duration::from_secs(10), "the host does not follow");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Deploys such rules.
pub(crate) async fn deploy_hostile(app: &TestApp, db: &PgPool) {
    let hostile = register_hostile(db).await;
    let ops = app.operator(Some("rules:admin"));
    let change = json!({"champion": hostile, "reason": "a test"});
    let path = "/admin/models/transfer-rules/deployment";
    ops.with("if-match", "\"0\"").put(path, change).await.assert_status(200);
    wait_for(app, &hostile).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn rules_that_fail_for_one_customer_decide_for_others(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let (ana, eva) = (app.user("ana"), app.user("eva"));
    let (account, payee) = ana.account_and_payee().await;
    let (evas, to) = (eva.open_account("eva").await, eva.save_payee("Luis", PAYEE_CLABE).await);
    deploy_hostile(&app, &db).await;
    for unlucky in [2, 20] {
        // While the account is locked elsewhere, the first transfer waits and the others queue up.
        let mut holder = app.db.begin().await.unwrap();
        sqlx::query("select from account_balance for update").execute(&mut *holder).await.unwrap();
        let amounts = std::iter::once("1.00").chain(std::iter::repeat_n("6.66", unlucky));
        let mut sent = Vec::new();
        for amount in amounts {
            let (ana, account, payee) = (ana.clone(), account.clone(), payee.clone());
            sent.push(tokio::spawn(async move { ana.transfer(&account, &payee, amount).await }));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let other = tokio::spawn({
            let (eva, evas, to) = (eva.clone(), evas.clone(), to.clone());
            async move { eva.transfer(&evas, &to, "6.67").await }
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        holder.rollback().await.unwrap();
        sent.remove(0).await.unwrap().assert_status(200);
        other.await.unwrap().assert_status(200);
        for trapped in sent {
            trapped.await.unwrap().assert_problem(503, "model-unavailable", None);
        }
    }
    assert_eq!((ana.balance().await, eva.balance().await), ("9998.00".to_owned(), "9986.66".to_owned()));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn rules_that_trap_move_nothing_until_the_next_deployment(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let ana = app.user("ana");
    let (account, payee) = ana.account_and_payee().await;
    ana.transfer(&account, &payee, "6.66").await.assert_status(200);

    deploy_hostile(&app, &db).await;

    for _ in 0..5 {
        refused(&app, ana.transfer(&account, &payee, "6.66"), 503, "model-unavailable", None).await;
    }
    let key = ana.with("idempotency-key", "unlucky");
    refused(&app, key.transfer(&account, &payee, "6.66"), 503, "model-unavailable", None).await;
    // They decide all other transfers, before and after the failure.
    ana.transfer(&account, &payee, "6.67").await.assert_status(200);
    // They allow everything, but the balance still has to cover it.
    ana.transfer(&account, &payee, "99999.00").await.assert_problem(400, "insufficient-funds", None);

    let ops = app.operator(Some("rules:admin"));
    let back = roll_back(&ops, "transfer-rules", "they trap").await;
    let built_in = back.assert_status(200).json()["champion"].as_str().unwrap().to_owned();
    wait_for(&app, &built_in).await;
    // The key has no outcome yet, so it is decided now.
    key.transfer(&account, &payee, "6.66").await.assert_status(200);
    assert_eq!(ana.balance().await, "9980.01");
    assert_eq!(app.sum_of_balances().await, 0);
}
