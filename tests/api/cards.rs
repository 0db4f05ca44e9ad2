//! Cards: what the owner of a version says of it, and the drift of requests from its own training data.

use caudal::domain::model::{ModelKind, ModelVersion};
use caudal::models::Embedded;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::admin::version;
use crate::approvals::assert_sound;
use crate::assistance::{risk, with};
use crate::harness::{TestApp, refused};
use crate::rollout::until;
use crate::rollouts::serves;
use crate::swap::register;

const ADMIN: &str = "models:admin";

/// Registers a version that is not part of the program: risk-1 with one more custom section.
async fn pushed(db: &PgPool) -> String {
    let bytes = [Embedded::find("risk-1").unwrap().bytes, &[0, 2, 1, b'x']].concat();
    let (digest, _) = register(db, ModelKind::Risk, "1.0.0", &bytes).await;
    ModelVersion::new(ModelKind::Risk, "1.0.0", digest).to_string()
}

fn path(version: &str) -> String {
    format!("/admin/models/risk/versions/{}", version.replace('+', "%2B"))
}

/// One after which an amount of 100 is what is usual.
fn card() -> Value {
    json!({
        "owner": "Risk team", "purpose": "Warns people.", "training_data": "Transfers.",
        "period": {"from": "2026-01-01", "to": "2026-06-30"},
        "metrics": [{"name": "AUC", "value": 0.91, "low": 0.9, "high": 0.92}],
        "limits": ["Not for companies."], "next_review": "2027-01-31",
        "reference": [{"fact": "amount", "ends": [100.0], "shares": [0.0, 1.0, 0.0]}],
    })
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_card_is_shown_with_its_version(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let (ops, version) = (app.operator(Some(ADMIN)), path(&pushed(&db).await));
    let shown = async || ops.get(&version).await.assert_status(200).json();
    let put = async |card: Value| ops.put(&format!("{version}/card"), card).await.assert_status(200).json();
    let before = shown().await;
    assert_eq!((&before["card"], &before["pushed_card"]), (&Value::Null, &Value::Null));
    let set = put(card()).await;
    assert_eq!(set, shown().await);
    assert_eq!(set["pushed_card"], card());
    let text = set["card"].as_str().unwrap();
    for part in ["Owner: Risk team. Next review: 2027-01-31.", "| AUC | 0.9100 (0.9000 to 0.9200) |"] {
        assert!(text.contains(part), "{text}");
    }
    // The same once more is no change, and another card replaces it.
    put(card()).await;
    let other = with(card(), &json!({"owner": "Fraud team"}));
    assert_eq!(put(other.clone()).await["pushed_card"], other);
    let records = "select string_agg(action || ' by ' || actor, ', ' order by seq) from audit_record
        where subject = 'component'";
    assert_eq!(app.text(records).await, "register by ops, card by ops, card by ops");
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_bad_card_is_refused_by_the_name_of_the_field(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some(ADMIN));
    let (place, auditor) = (path(&pushed(&db).await) + "/card", app.operator(Some("audit:read")));
    let reference = |fact: &str, shares: Value| json!({"reference": [{"fact": fact, "ends": [1], "shares": shares}]});
    for (change, field) in [
        (json!({"owner": null}), "owner"),
        (json!({"reviewed": true}), "reviewed"),
        (json!({"metrics": [{"name": "AUC", "value": 2, "low": 0, "high": 1}]}), "metrics[0].value"),
        (reference("shoe_size", json!([0, 1, 0])), "reference[0].fact"),
        (reference("amount", json!([0, 1])), "reference[0].shares"),
        (reference("amount", json!([0, 1, "0"])), "reference[0].shares"),
    ] {
        let put = ops.put(&place, with(card(), &change));
        refused(&app, put, 422, "validation-failed", Some(field)).await;
    }
    let built_in = path(&version(&ops, "risk-2.").await) + "/card";
    refused(&app, ops.put(&built_in, card()), 422, "validation-failed", Some("version")).await;
    refused(&app, ops.put(&(path("risk-9") + "/card"), card()), 404, "not-found", None).await;
    refused(&app, auditor.put(&place, card()), 403, "insufficient-scope", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn drift_is_that_from_the_champions_own_training_data(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some(ADMIN));
    let ask = async |times: u32| {
        for _ in 0..times {
            app.ai().post("/ai/risk", risk()).await.assert_status(200);
        }
    };
    let report = async || ops.get("/admin/models/risk/report").await.assert_status(200).json();
    let asked = async || {
        ask(1).await;
        report().await
    };
    let observed = |it: &Value| it["features"][0]["observed"].as_i64();
    // Some requests to a champion without challengers are looked at, too.
    until(&asked, |it| observed(it).is_some()).await;

    let (champion, shadow) = (pushed(&db).await, version(&ops, "risk-2.").await);
    let change = json!({"champion": champion, "shadows": [shadow], "reason": "a test"});
    ops.with("if-match", "\"0\"").put("/admin/models/risk/deployment", change).await.assert_status(200);
    serves(&app, ModelKind::Risk, 1, 1).await;
    ask(3).await;
    let without = until(&report, |it| it["observed"] == 3).await;
    assert_eq!(without["features"], json!([]), "another model's card says nothing of it");

    let place = path(&champion) + "/card";
    ops.put(&place, card()).await.assert_status(200);
    // A host reads the card every second.
    until(&asked, |it| observed(it).is_some()).await;
    ask(500).await;
    let seen = until(&report, |it| observed(it) >= Some(500)).await;
    assert_eq!((seen["features"].as_array().unwrap().len(), &seen["features"][0]["feature"]), (1, &json!("amount")));
    assert!(seen["features"][0]["psi"].as_f64().unwrap() < 0.01, "{seen}");

    // With other bins there is another count.
    let reference = json!([{"fact": "amount", "ends": [50.0], "shares": [1.0, 0.0, 0.0]}]);
    ops.put(&place, with(card(), &json!({"reference": reference}))).await.assert_status(200);
    let seen = until(&asked, |it| observed(it).is_some()).await;
    assert!(observed(&seen) < Some(500), "{seen}");
}
