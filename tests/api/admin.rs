//! `/admin/models`: authorisation, the registry, deployments, and refusals without a change.

use std::time::{Duration, Instant};

use axum::body::Body;
use caudal::models::Embedded;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Client, TestApp};
use crate::rollback::roll_back;

const ADMIN: &str = "models:admin";

/// The full name of a registered version.
pub(crate) async fn version(ops: &Client, start: &str) -> String {
    let models = ops.get("/admin/models").await.assert_status(200).json();
    let all = models["models"].as_array().unwrap().iter().flat_map(|kind| kind["versions"].as_array().unwrap());
    let names: Vec<_> = all.map(|it| it["model_version"].as_str().unwrap().to_owned()).collect();
    names.iter().find(|name| name.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {names:?}")).clone()
}

async fn put(ops: &Client, if_match: &str, body: Value) -> crate::harness::Answer {
    ops.with("if-match", if_match).put("/admin/models/risk/deployment", body).await
}

/// Waits until the only live host serves this version, and returns its report.
pub(crate) async fn serving(ops: &Client, kind: &str, epoch: i64, version: &str) -> Value {
    let start = Instant::now();
    loop {
        let host = &hosts(ops, kind).await[0];
        if host["epoch"] == epoch && host["state"] == "serving" && host["champion"] == version {
            return host.clone();
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{version} is not served: {host}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What the live hosts report for a kind.
pub(crate) async fn hosts(ops: &Client, kind: &str) -> Vec<Value> {
    let models = ops.get("/admin/models").await.assert_status(200).json();
    let of_kind = models["models"].as_array().unwrap().iter().find(|it| it["kind"] == kind).unwrap();
    of_kind["hosts"].as_array().unwrap().clone()
}

async fn push(ops: &Client, kind: &str, bytes: &[u8]) -> crate::harness::Answer {
    let body = Body::from(bytes.to_vec());
    ops.send("POST", &format!("/admin/models/{kind}/versions"), Some("application/wasm"), body).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_kind_is_read_with_its_own_scope_or_an_auditors(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let admin = app.operator(Some("models:admin rules:admin"));
    let named = |it: &str| it.replace('+', "%2B");
    let (risk, rules) = (named(&version(&admin, "risk-1.").await), named(&version(&admin, "transfer-rules-").await));
    let replay = json!({"kind": "risk", "days": 1, "limit": 1});
    for (scope, models, rules_too, replays) in [
        (ADMIN, false, true, 200),
        ("rules:admin", true, false, 403),
        ("audit:read", false, false, 200),
        ("ledger:operate", true, true, 403),
    ] {
        let client = app.operator(Some(scope));
        for (kind, version, is_refused) in [("risk", &risk, models), ("transfer-rules", &rules, rules_too)] {
            for path in ["deployment", "history", "report", "pushes/x", &*format!("versions/{version}")] {
                let answer = client.get(&format!("/admin/models/{kind}/{path}")).await;
                assert_eq!(answer.status == 403, is_refused, "{scope}: {answer:?}");
            }
        }
        client.post("/admin/replay", replay.clone()).await.assert_status(replays);
    }
    let auditor = app.operator(Some("audit:read"));
    let change = json!({"champion": "risk-1.0.0+00000000", "reason": "x"});
    for kind in ["risk", "transfer-rules"] {
        let put = auditor.with("if-match", "*").put(&format!("/admin/models/{kind}/deployment"), change.clone()).await;
        put.assert_problem(403, "insufficient-scope", None);
    }
    let listed = |answer: crate::harness::Answer| {
        let all = answer.assert_status(200).json()["models"].as_array().unwrap().clone();
        all.iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let everything = ["accessibility", "nudge", "risk", "transfer-rules"];
    assert_eq!(listed(auditor.get("/admin/models").await), everything);
    assert_eq!(listed(app.operator(Some(ADMIN)).get("/admin/models").await), everything[..3]);
    assert_eq!(listed(app.operator(Some("rules:admin")).get("/admin/models").await), ["transfer-rules"]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_version_is_deployed_over_the_epoch_in_if_match_and_rolled_back(db: PgPool) {
    let app = TestApp::new(db).await;
    let _follower = app.follow().await;
    let ops = app.operator(Some(ADMIN));
    let (first, second) = (version(&ops, "risk-1.0.0+").await, version(&ops, "risk-2.0.0+").await);
    let seen = ops.get("/admin/models/risk/deployment").await;
    assert_eq!(seen.header("etag"), Some("\"0\""));
    let shown = |epoch: i64, champion: &str, previous: Option<&str>, reason: Option<&str>| {
        let who = reason.map(|_| ("ops", "2026-11-21T18:00:00.000Z"));
        json!({"kind": "risk", "epoch": epoch, "champion": champion, "previous": previous, "canary": null,
            "fallback": epoch == 1, "shadows": [], "minimum_release": null, "reason": reason,
            "cut_offs": {"medium_from": 0.25, "high_from": 0.75},
            "changed_by": who.map(|it| it.0), "changed_at": who.map(|it| it.1)})
    };
    // What is deployed, and where it can go from there.
    let present = |deployed: &Value, rollback_to: Option<&str>, setbacks: Value| {
        let mut present = deployed.clone();
        present["rollback_to"] = json!(rollback_to);
        present["setbacks"] = setbacks;
        present
    };
    assert_eq!(seen.assert_status(200).json(), present(&shown(0, &second, None, None), None, json!([])));
    let nothing = json!({"from": second, "to": first, "reason": "x"});
    let nothing = ops.with("if-match", "\"0\"").post("/admin/models/risk/rollback", nothing).await;
    nothing.assert_problem(409, "nothing-deployed", None);

    let before = app.rows().await;
    let change = json!({"champion": first, "reason": "compare with the baseline"});
    ops.put("/admin/models/risk/deployment", change.clone()).await.assert_problem(428, "if-match-required", None);
    for stale in ["\"1\"", "\"9223372036854775807\"", "\"-1\"", "0", "\"x\""] {
        put(&ops, stale, change.clone()).await.assert_problem(412, "stale", None);
    }
    for (body, code, field) in [
        (json!({"champion": "risk-9.9.9+00000000", "reason": "x"}), "validation-failed", "champion"),
        (json!({"champion": version(&ops, "nudge-1").await, "reason": "x"}), "validation-failed", "champion"),
        (json!({"champion": first}), "validation-failed", "reason"),
        (json!({"champion": first, "reason": " "}), "validation-failed", "reason"),
        (json!({"champion": first, "reason": "x".repeat(501)}), "validation-failed", "reason"),
    ] {
        put(&ops, "\"0\"", body).await.assert_problem(422, code, Some(field));
    }
    assert_eq!(app.rows().await, before, "a refused request changes nothing");

    let done = put(&ops, "\"0\"", change.clone()).await;
    assert_eq!(done.header("etag"), Some("\"1\""));
    let one = shown(1, &first, Some(&second), Some("compare with the baseline"));
    assert_eq!(done.assert_status(200).json(), present(&one, Some(&second), json!([])));
    put(&ops, "\"0\"", change).await.assert_problem(412, "stale", None);
    let version = ops.get(&format!("/admin/models/risk/versions/{}", first.replace('+', "%2B"))).await;
    let version = version.assert_status(200).json();
    assert_eq!(
        (&version["role"], &version["built_in"], &version["report"], &version["class"]),
        (&json!("champion"), &json!(true), &Value::Null, &json!("pure"))
    );
    assert!(version["card"].as_str().unwrap().starts_with("# risk-1 1.0.0"), "{version}");

    // A rollback only returns to a version that served.
    serving(&ops, "risk", 1, &first).await;
    let back = roll_back(&ops, "risk", "enough seen").await;
    let two = shown(2, &second, Some(&first), Some("enough seen"));
    let left = json!({"version": first, "cause": "rolled-back", "epoch": 2, "reason": "enough seen", "changed_by": "ops",
        "changed_at": "2026-11-21T18:00:00.000Z"});
    assert_eq!(back.assert_status(200).json(), present(&two, Some(&first), json!([left])));
    let history = ops.get("/admin/models/risk/history").await.assert_status(200).json();
    assert_eq!(history, json!({"history": [two, one]}));
    let kept: Vec<(i64, String, String)> =
        sqlx::query_as("select epoch, reason, changed_by from deployment_history order by epoch")
            .fetch_all(&app.db)
            .await
            .unwrap();
    let kept: Vec<_> = kept.iter().map(|(epoch, reason, by)| (*epoch, reason.as_str(), by.as_str())).collect();
    assert_eq!(kept, [(1, "compare with the baseline", "ops"), (2, "enough seen", "ops")]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_push_goes_through_the_gate(db: PgPool) {
    let app = TestApp::new(db).await;
    let ops = app.operator(Some(ADMIN));
    let first = Embedded::find("risk-1").unwrap().bytes;
    let before = app.rows().await;
    push(&ops, "risk", b"not a component").await.assert_problem(422, "component-refused", Some("format"));
    push(&ops, "nudge", first).await.assert_problem(422, "component-refused", Some("kind"));
    push(&ops, "horoscope", first).await.assert_problem(404, "not-found", None);
    push(&ops, "risk", &vec![0; (16 << 20) + 1]).await.assert_problem(413, "payload-too-large", None);
    ops.post("/admin/models/risk/versions", json!({})).await.assert_problem(415, "unsupported-media-type", None);
    push(&app.operator(Some("rules:admin")), "risk", first).await.assert_problem(403, "insufficient-scope", None);
    assert_eq!(app.rows().await, before, "a refused request changes nothing");

    let pushed = push(&ops, "risk", first).await;
    let body = pushed.assert_status(201).json();
    assert_eq!(body["report"]["kind"], "risk");
    let location = pushed.header("location").unwrap().to_owned();
    let shown = ops.get(&location).await.assert_status(200).json();
    assert_eq!(shown["model_version"], body["model_version"]);
    assert_eq!(shown["report"], body["report"]);
    assert_eq!((&shown["built_in"], &shown["registered_by"]), (&json!(false), &json!("ops")));
    push(&ops, "risk", first).await.assert_status(200);
    // The same version with other bytes: one more custom section.
    let other = [first, &[0, 2, 1, b'x']].concat();
    push(&ops, "risk", &other).await.assert_problem(409, "version-taken", None);
}
