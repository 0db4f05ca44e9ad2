//! A host configured to log decisions replays them bit for bit.

use caudal::domain::model::ModelKind;
use caudal::models::{Embedded, LoadedComponent};
use caudal::wasm::Runtime;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::assistance::{risk, with};
use crate::harness::{CLABE, Client, Options, PAYEE_CLABE, TestApp, refused, registry};

/// A host that logs decisions, follows deployments and has its components registered.
async fn keeping(db: PgPool) -> (TestApp, crate::harness::Follower) {
    let app = TestApp::with(db, Options { decision_log: true, ..Options::default() }).await;
    let follower = app.follow().await;
    (app, follower)
}

fn ops(app: &TestApp) -> Client {
    app.operator(Some("models:admin"))
}

async fn replay(app: &TestApp, body: Value) -> Value {
    ops(app).post("/admin/replay", body).await.assert_status(200).json()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_thousand_answers_of_two_versions_replay_identically(db: PgPool) {
    let (app, _follower) = keeping(db).await;
    let mut decisions = Vec::new();
    for index in 0..1000 {
        if index == 500 {
            let first = LoadedComponent::load(
                &Runtime::new().unwrap(),
                ModelKind::Risk,
                Embedded::find("risk-1").unwrap().bytes,
            );
            app.models.activate(registry().with(first.unwrap()));
        }
        let asked = with(
            risk(),
            &json!({
                "amount": 0.1 * f64::from(index * index), "hour_of_day": index % 24, "is_new_device": index % 3 == 0,
                "num_past_transactions": index % 7, "user_id": format!("user-{index}"),
                "beneficiary_saved_minutes": (index % 2 == 0).then_some(index),
            }),
        );
        let answer = app.ai().post("/ai/risk", asked.clone()).await.assert_status(200).json();
        decisions.push(json!({"kind": "risk", "request": asked, "response": answer}));
    }
    let kept = replay(&app, json!({"stored": {"kind": "risk", "limit": 1000}})).await;
    assert_eq!(kept, json!({"replayed": 1000, "equal": 1000, "different": []}));
    let versions = app.count("select count(distinct model_version) from decision").await;
    assert_eq!((versions, app.count("select count(*) from decision").await), (2, 1000));
    // Decisions kept by a client replay too.
    let supplied = replay(&app, json!({"decisions": decisions})).await;
    assert_eq!(supplied, json!({"replayed": 1000, "equal": 1000, "different": []}));

    // One score altered by its last bit.
    let score = decisions[700]["response"]["result"]["risk_score"].as_f64().unwrap();
    decisions[700]["response"]["result"]["risk_score"] = json!(score.next_up());
    let altered = replay(&app, json!({"decisions": decisions})).await;
    assert_eq!((&altered["replayed"], &altered["equal"]), (&json!(1000), &json!(999)));
    let difference = format!("/result/risk_score was {} and is {score}", score.next_up());
    assert_eq!(altered["different"], json!([{"index": 700, "differences": [difference]}]));
    sqlx::query(
        "update decision set response = replace(response, '\"low\"', '\"high\"') where decision_id = \
                 (select decision_id from decision where response like '%\"low\"%' limit 1)",
    )
    .execute(&app.db)
    .await
    .unwrap();
    let altered = replay(&app, json!({"stored": {"kind": "risk", "limit": 1000}})).await;
    assert_eq!(altered["equal"], 999);
    assert!(altered["different"][0]["id"].is_string(), "{altered}");
    assert_eq!(altered["different"][0]["differences"], json!(["/result/risk_level was \"high\" and is \"low\""]));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn rules_are_replayed_and_other_answers_are_not_logged(db: PgPool) {
    let (app, _follower) = keeping(db).await;
    let ana = app.user("ana");
    let account = ana.open_account(CLABE).await;
    let (payee, own) = (ana.save_payee("Luis", PAYEE_CLABE).await, ana.save_payee("Ana", CLABE).await);
    ana.transfer(&account, &payee, "1.50").await.assert_status(200);
    ana.transfer(&account, &payee, "999999.00").await.assert_problem(400, "insufficient-funds", None);
    ana.transfer(&account, &own, "1.00").await.assert_problem(400, "same-account", None);
    let kept = replay(&app, json!({"stored": {"kind": "transfer-rules", "limit": 10}})).await;
    assert_eq!(kept, json!({"replayed": 3, "equal": 3, "different": []}));

    let path = format!("/api/ledger/risk-context?fromAccountId={account}&toBeneficiaryId={payee}&amount=5");
    ana.get(&path).await.assert_status(200);
    let visit = crate::harness::on_screen("home");
    app.ai().post("/ai/nudge", visit).await.assert_status(200);
    let person = json!({"can_read_small_text": true, "uses_screen_reader": false, "age_range": "60_plus",
        "feels_confident_with_apps": "low", "avg_time_per_screen_seconds": 9, "total_validation_errors": 0,
        "requested_help_count": 0});
    let answer = app.ai().post("/ai/accessibility", person.clone()).await.assert_status(200).json();
    assert_eq!(app.count("select count(*) from decision").await, 4, "three of the rules, one on risk");
    let kept = replay(&app, json!({"stored": {"kind": "risk", "limit": 10}})).await;
    assert_eq!(kept["equal"], 1);
    // One kept elsewhere can still be replayed.
    let supplied = json!({"decisions": [{"kind": "accessibility", "request": person, "response": answer}]});
    assert_eq!(replay(&app, supplied).await["equal"], 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_decision_that_cannot_be_logged_is_neither_answered_nor_executed(db: PgPool) {
    let (app, follower) = keeping(db).await;
    let ana = app.user("ana");
    let (account, payee) = ana.account_and_payee().await;
    sqlx::query("alter table decision add constraint full_disk check (false) not valid")
        .execute(&app.db)
        .await
        .unwrap();
    refused(&app, ana.transfer(&account, &payee, "1.50"), 503, "decision-not-kept", None).await;
    refused(&app, app.ai().post("/ai/risk", risk()), 503, "decision-not-kept", None).await;
    app.ai().post("/ai/nudge", crate::harness::on_screen("home")).await.assert_status(200);
    sqlx::query("alter table decision drop constraint full_disk").execute(&app.db).await.unwrap();
    ana.transfer(&account, &payee, "1.50").await.assert_status(200);
    // It counts what its versions did.
    drop(follower);
    // A host without a decision log keeps none.
    let other = TestApp::new(app.db.clone()).await;
    let before = app.rows().await;
    other.ai().post("/ai/risk", risk()).await.assert_status(200);
    assert_eq!(app.rows().await, before);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn decisions_that_cannot_be_replayed_are_reported_and_change_nothing(db: PgPool) {
    let (app, _follower) = keeping(db).await;
    let answer = app.ai().post("/ai/risk", risk()).await.json();
    let unknown = json!({"model_version": "risk-9.9.9+00000000"});
    let found = replay(
        &app,
        json!({"decisions": [
            {"id": "a", "kind": "risk", "request": risk(), "response": unknown},
            {"kind": "nudge", "request": risk(), "response": answer},
            {"kind": "risk", "request": {"amount": -1}, "response": answer},
            {"kind": "risk", "request": 7, "response": answer},
        ]}),
    )
    .await;
    assert_eq!((&found["replayed"], &found["equal"]), (&json!(4), &json!(0)));
    assert_eq!(found["different"][0]["id"], "a");
    for (at, reason) in
        ["no component is registered as", "is a risk component, not nudge", "is not valid: amount", "cannot be read"]
            .iter()
            .enumerate()
    {
        assert!(found["different"][at]["differences"][0].as_str().unwrap().contains(reason), "{found:#}");
    }
    let admin = ops(&app);
    let before = app.rows().await;
    app.ai().post("/admin/replay", json!({})).await.assert_problem(401, "unauthorized", None);
    admin.post_text("/admin/replay", "{").await.assert_problem(400, "malformed-json", None);
    admin.post("/admin/replay", json!({"decisions": 7})).await.assert_problem(422, "validation-failed", None);
    let stored = json!({"stored": {"kind": "x", "limit": 1}});
    admin.post("/admin/replay", stored).await.assert_problem(422, "validation-failed", Some("stored.kind"));
    let stored = json!({"stored": {"kind": "nudge", "limit": 1}});
    admin.post("/admin/replay", stored).await.assert_problem(422, "validation-failed", Some("stored.kind"));
    let stored = json!({"stored": {"kind": "risk", "limit": 1001}});
    admin.post("/admin/replay", stored).await.assert_problem(422, "validation-failed", Some("stored.limit"));
    for (body, field) in [
        (json!({"since": "24h"}), "since"),
        (json!({"stored": {"kind": "risk", "limit": 1, "since": "24h"}}), "stored.since"),
        (json!({"decisions": [{"kind": "risk", "request": {}, "response": {}, "answer": {}}]}), "decisions[0].answer"),
        (json!({"decisions": [{"kind": "risk", "request": {}}]}), "decisions[0].response"),
        (json!({"decisions": [7]}), "decisions[0]"),
        (json!({"decisions": 7}), "decisions"),
        (json!({}), ""),
        (json!([]), ""),
    ] {
        let refused = admin.post("/admin/replay", body).await;
        refused.assert_problem(422, "validation-failed", Some(field));
        for word in ["serde", "invalid type", "expected", "missing field"] {
            assert!(!refused.text.contains(word), "in words of the parser: {refused:?}");
        }
    }
    let broken = admin.post_text("/admin/replay", "{\"stored\":").await;
    assert!(broken.assert_problem(400, "malformed-json", None).text.contains("The JSON breaks off."), "{broken:?}");
    let one = json!({"kind": "risk", "request": {}, "response": {}});
    let both = json!({"stored": {"kind": "risk", "limit": 1}, "decisions": [one]});
    admin.post("/admin/replay", both).await.assert_problem(422, "validation-failed", Some("stored"));
    let many = json!({"decisions": vec![one; 1001]});
    admin.post("/admin/replay", many).await.assert_problem(422, "validation-failed", Some("decisions"));
    let long = json!({"decisions": [{"kind": "x".repeat(5 << 20), "request": {}, "response": {}}]});
    admin.post("/admin/replay", long).await.assert_problem(413, "payload-too-large", None);
    assert_eq!(app.rows().await, before);
}
