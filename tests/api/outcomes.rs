//! `/admin/outcomes` and `/api/ledger/transactions/{id}/report`: what became of orders.

use axum::body::Body;
use caudal::domain::risk::Enforcement;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::answer::Answer;
use crate::client::Client;
use crate::harness::{Options, TestApp, refused};

const WRITE: Option<&str> = Some("outcomes:write");
const NOBODY: &str = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";

async fn import(ops: &Client, lines: &[Value]) -> Answer {
    let body = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    ops.send("POST", "/admin/outcomes", Some("application/x-ndjson"), Body::from(body)).await
}

fn line(subject: &str, kind: &str, known_at: &str) -> Value {
    json!({"subject_id": subject, "kind": kind, "source": "chargeback", "known_at": known_at})
}

fn counts(recorded: u64, repeated: u64) -> Value {
    json!({"recorded": recorded, "repeated": repeated})
}

/// Sends a transfer, and returns its id.
async fn sent(user: &Client, from: &str, to: &str) -> String {
    user.transfer(from, to, "10").await.assert_status(200).id()
}

/// What counts of each subject, in the order in which they were told of.
async fn counting(app: &TestApp) -> Vec<(String, String)> {
    let counting = "select subject_id::text, kind from (
            select distinct on (subject_id) * from outcome
            order by subject_id, known_at desc, recorded_at desc, outcome_id desc
        ) as o order by subject_id";
    sqlx::query_as(counting).fetch_all(&app.db).await.unwrap()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn repeated_late_and_contradictory_outcomes_are_kept_and_the_last_known_counts(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let ops = app.operator(WRITE);
    let (first, second) = (sent(&ana, &from, &to).await, sent(&ana, &from, &to).await);
    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 10});
    let hold = ana.post("/api/ledger/holds", order).await.assert_status(201).id();
    let fraud = line(&first, "confirmed_fraud", "2026-11-20T10:00:00Z");
    // The same line twice in a file, and an empty one.
    let file = [fraud.clone(), fraud.clone(), line(&hold, "false_alarm", "2026-11-20T10:00:00Z")];
    assert_eq!(import(&ops, &file).await.assert_status(200).json(), counts(2, 1));
    let before = app.rows().await;
    assert_eq!(import(&ops, &file).await.assert_status(200).json(), counts(0, 3));
    assert_eq!(app.rows().await, before, "what is known already changes nothing");
    // Another source, kind or time is another statement.
    let by_operator = json!({"subject_id": first, "kind": "confirmed_fraud", "source": "operator",
        "known_at": "2026-11-20T10:00:00Z"});
    assert_eq!(import(&ops, &[by_operator]).await.json(), counts(1, 0));

    // Contradicted by a later statement, then told late of an earlier one, then withdrawn.
    let is = async |kind: &str| {
        let all = counting(&app).await;
        assert_eq!(all.iter().find(|(subject, _)| *subject == first).map(|(_, kind)| &**kind), Some(kind));
    };
    is("confirmed_fraud").await;
    import(&ops, &[line(&first, "false_alarm", "2026-11-21T10:00:00Z")]).await.assert_status(200);
    is("false_alarm").await;
    import(&ops, &[line(&first, "authorised_scam", "2026-11-21T09:00:00Z")]).await.assert_status(200);
    is("false_alarm").await;
    // Known at the same moment: what stands further down in the file was recorded later.
    let same = ["authorised_scam", "withdrawn", "help_accepted", "reported", "confirmed_fraud", "false_alarm"];
    let same: Vec<_> = same.iter().map(|kind| line(&second, kind, "2026-11-21T11:00:00Z")).collect();
    import(&ops, &same).await.assert_status(200);
    assert_eq!(counting(&app).await.into_iter().find(|(it, _)| *it == second).unwrap().1, "false_alarm");
    import(&ops, &[line(&first, "withdrawn", "2026-11-21T11:00:00Z")]).await.assert_status(200);
    is("withdrawn").await;
    assert_eq!(app.count("select count(*) from outcome").await, 12);
    assert_eq!(app.count("select count(*) from audit_record where subject = 'outcome'").await, 12);
    assert_eq!(app.text("select distinct recorded_by from outcome").await, "ops");
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_file_with_a_fault_is_refused_as_a_whole_and_names_the_lines(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let ops = app.operator(WRITE);
    let transfer = sent(&ana, &from, &to).await;
    let good = line(&transfer, "confirmed_fraud", "2026-11-20T10:00:00Z");
    let with = |field: &str, value: Value| {
        let mut line = good.clone();
        line[field] = value;
        line
    };
    for (bad, field) in [
        (with("subject_id", json!(NOBODY)), "line 2, subject_id"),
        (with("subject_id", json!(from)), "line 2, subject_id"),
        (with("subject_id", json!("x")), "line 2, subject_id"),
        (with("kind", json!("fraud")), "line 2, kind"),
        (with("source", json!("a bank")), "line 2, source"),
        (with("source", json!("")), "line 2, source"),
        (with("source", json!("x".repeat(33))), "line 2, source"),
        // Beyond what clocks may differ by.
        (with("known_at", json!("2026-11-21T18:00:06Z")), "line 2, known_at"),
        (with("known_at", json!("yesterday")), "line 2, known_at"),
        (with("note", json!("x")), "line 2, note"),
        (json!([1]), "line 2"),
        (json!({}), "line 2, kind"),
    ] {
        let lines = [good.clone(), bad];
        refused(&app, import(&ops, &lines), 422, "validation-failed", Some(field)).await;
    }
    let ndjson = Some("application/x-ndjson");
    let post = async |body: String| ops.send("POST", "/admin/outcomes", ndjson, Body::from(body)).await;
    refused(&app, post("\n \n".to_owned()), 422, "validation-failed", Some("")).await;
    refused(&app, post(format!("{good}\n\n{{\"kind\"")), 422, "validation-failed", Some("line 3")).await;
    refused(&app, post(format!("{good}\n").repeat(10_001)), 422, "validation-failed", Some("")).await;
    refused(&app, post(" ".repeat((4 << 20) + 1)), 413, "payload-too-large", None).await;
    refused(&app, ops.post("/admin/outcomes", good.clone()), 415, "unsupported-media-type", None).await;
    for scope in ["ledger:operate", "models:admin", "audit:read"] {
        refused(&app, import(&app.operator(Some(scope)), std::slice::from_ref(&good)), 403, "insufficient-scope", None)
            .await;
    }
    // As many as a request may have, the last one without an end of line.
    let text = format!("{good}\n").repeat(10_000);
    assert_eq!(post(text.trim_end().to_owned()).await.assert_status(200).json(), counts(1, 9_999));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_customer_reports_their_own_transfer_once_and_freezes_its_account_on_request(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let (luis, ops) = (app.user("luis"), app.operator(WRITE));
    let (transfer, other) = (sent(&ana, &from, &to).await, sent(&ana, &from, &to).await);
    let path = |id: &str| format!("/api/ledger/transactions/{id}/report");
    let report = async |user: &Client, id: &str, freeze: bool| user.post(&path(id), json!({"freeze": freeze})).await;
    for id in [NOBODY, "x", &from] {
        refused(&app, report(&ana, id, true), 404, "not-found", None).await;
    }
    refused(&app, report(&luis, &transfer, true), 404, "not-found", None).await;
    refused(&app, ana.post(&path(&transfer), json!({})), 400, "validation-failed", Some("freeze")).await;

    let answer = |changed: bool, frozen: bool| json!({"id": transfer, "changed": changed, "frozen": frozen});
    assert_eq!(report(&ana, &transfer, false).await.assert_status(200).json(), answer(true, false));
    let before = app.rows().await;
    assert_eq!(report(&ana, &transfer, false).await.json(), answer(false, false));
    assert_eq!(app.rows().await, before, "reporting it again changes nothing");
    let both = tokio::join!(report(&ana, &other, true), report(&ana, &other, true));
    let changed = [both.0.json(), both.1.json()].iter().filter(|it| it["changed"] == true).count();
    assert_eq!(changed, 1, "of two reports at once one is new");
    refused(&app, ana.transfer(&from, &to, "1"), 403, "account-frozen", None).await;
    assert_eq!(report(&ana, &transfer, true).await.json(), answer(false, true));

    let reason = app.text("select actor || ': ' || reason from account_event").await;
    assert_eq!(reason, format!("ana: its owner did not make transaction {other}"));
    let told = "select kind || ' ' || source || ' ' || recorded_by from outcome where subject_id = any(
        select transfer_id from transfer where kind = 'spei') group by 1";
    assert_eq!(app.text(told).await, "reported customer ana");
    assert_eq!(app.count("select count(*) from audit_record where subject = 'outcome' and actor = 'owner'").await, 2);

    // A bank that knows more is not contradicted by a repetition; one that withdrew it is.
    app.clock.advance(Duration::HOUR);
    import(&ops, &[line(&transfer, "confirmed_fraud", "2026-11-21T18:30:00Z")]).await.assert_status(200);
    assert_eq!(report(&ana, &transfer, false).await.json(), answer(false, false));
    import(&ops, &[line(&transfer, "withdrawn", "2026-11-21T18:40:00Z")]).await.assert_status(200);
    assert_eq!(report(&ana, &transfer, false).await.json(), answer(true, false));
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_report_is_for_those_who_may_replay_and_says_what_it_cannot_know(db: PgPool) {
    let (app, ..) = TestApp::ready(db).await;
    let report =
        async |scope: &str, query: &str| app.operator(Some(scope)).get(&format!("/admin/outcomes/report{query}")).await;
    let empty = report("audit:read", "").await.assert_status(200).json();
    assert_eq!(empty["slices"], json!([]));
    assert!(empty["notes"].to_string().contains("An order that was stopped has no outcome"));
    report("models:admin", "?days=3650").await.assert_status(200);
    report("audit:read", "?days=0").await.assert_problem(400, "validation-failed", Some("days"));
    report("rules:admin", "").await.assert_status(403);
    report("outcomes:write", "").await.assert_status(403);
}

/// From the decision on a transfer to the shares at each horizon, and a refused order by what its decision is about.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn decisions_are_compared_with_what_became_of_their_orders(db: PgPool) {
    let app = TestApp::with(db, Options { risk_enforcement: Enforcement::Shadow, ..Options::default() }).await;
    let _follower = app.follow().await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let transfer = sent(&ana, &from, &to).await;
    sent(&ana, &from, &to).await;
    let day = |days| -> OffsetDateTime { app.clock.now() + Duration::days(days) };
    let known_at = caudal::clock::timestamp(day(40));
    app.clock.advance(Duration::days(70));
    let fraud = line(&transfer, "confirmed_fraud", &known_at);
    import(&app.operator(WRITE), &[fraud]).await.assert_status(200);
    let report = app.operator(Some("audit:read")).get("/admin/outcomes/report").await.assert_status(200).json();
    let all = report["slices"].as_array().unwrap().iter().find(|it| it["by"] == "all").unwrap();
    assert!(all["version"].as_str().unwrap().starts_with("risk-"));
    let figures = |at: usize| ["decisions", "young", "frauds"].map(|name| all["figures"][at][name].as_i64().unwrap());
    assert_eq!([0, 1, 2].map(figures), [[2, 0, 0], [2, 0, 1], [0, 2, 0]]);
}
