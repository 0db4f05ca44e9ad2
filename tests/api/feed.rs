//! `/admin/events`: everybody's events in the envelope of CloudEvents, as pages and as a stream.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use caudal::app::ApprovalPolicy;
use caudal::domain::money::Money;
use caudal::outbox::STREAMS_MAX;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::events::accept_loss;
use crate::harness::{Client, Options, TestApp, refused};
use crate::rollouts::{asked, start, with_canary};
use crate::schedules::ana;

const EVENTS: &str = "/admin/events";

/// All events after a cursor, page by page, and the cursor after them.
pub(crate) async fn all(reader: &Client, query: &str, mut cursor: String) -> (Vec<Value>, String) {
    let mut events = Vec::new();
    loop {
        let page = reader.get(&format!("{EVENTS}?from={cursor}{query}")).await.assert_status(200).json();
        events.extend(page["events"].as_array().unwrap().iter().cloned());
        cursor = page["cursor"].as_str().unwrap().to_owned();
        if page["isEnd"] == true {
            return (events, cursor);
        }
    }
}

fn texts<'a>(events: &'a [Value], field: &str) -> Vec<&'a str> {
    events.iter().map(|event| event[field].as_str().unwrap().trim_start_matches("mx.caudal.")).collect()
}

/// Whether data is what its schema says, as far as our schemas go: objects with fields of one type each.
fn assert_valid(schema: &Value, data: &Value) {
    let properties = schema["properties"].as_object().unwrap();
    for name in schema["required"].as_array().unwrap() {
        assert!(data.get(name.as_str().unwrap()).is_some(), "{name} is missing in {data}");
    }
    for (name, value) in data.as_object().unwrap() {
        let declared = properties.get(name).unwrap_or_else(|| panic!("{name} is not in {schema}"));
        let fits = match declared["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64(),
            Some("number") => value.is_number(),
            other => other.is_none() && value.is_object(),
        };
        assert!(fits, "{name}: {value} is not {declared}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn all_sorts_of_events_are_in_one_feed(db: PgPool) {
    let approvals = Some(ApprovalPolicy { lifetime: Duration::from_secs(3_600), limit: Money::ZERO });
    let ana = ana(db.clone(), Options { approvals, ..Options::default() }).await;
    let (app, user) = (&ana.app, &ana.client);
    user.transfer(&ana.from, &ana.to, "1").await.assert_status(200);
    let hold = json!({"fromAccountId": ana.from, "toBeneficiaryId": ana.to, "amount": 2});
    let hold = user.post("/api/ledger/holds", hold).await.id();
    user.post(&format!("/api/ledger/holds/{hold}/void"), json!({})).await.assert_status(200);
    let ops = app.operator(Some("ledger:operate models:admin events:read"));
    let reason = json!({"reason": "case 4711"});
    ops.post(&format!("/admin/accounts/{}/freeze", ana.from), reason.clone()).await.assert_status(200);
    ops.post(&format!("/admin/accounts/{}/unfreeze", ana.from), reason).await.assert_status(200);
    let proposed = ops.put("/admin/users/ana/limits", json!({"perDay": 10, "reason": "case 4711"})).await;
    let place = format!("/admin/approvals/{}/approve", proposed.assert_status(202).id());
    let digest = json!({"digest": proposed.json()["digest"]});
    app.operator_named("eva", "ledger:operate").post(&place, digest).await.assert_status(200);
    ana.plan(3.0, json!({})).await;
    ana.at("2026-11-22T15:00:00Z").await;

    let (events, cursor) = all(&ops, "", String::new()).await;
    let mut kinds = BTreeMap::new();
    for kind in texts(&events, "type") {
        *kinds.entry(kind).or_insert(0) += 1;
    }
    for (kind, count) in [
        ("transfer.completed", 3),
        ("hold.placed", 1),
        ("hold.voided", 1),
        ("account.frozen", 1),
        ("account.unfrozen", 1),
        ("approval.proposed", 1),
        ("approval.approved", 1),
        ("approval.executed", 1),
        ("occurrence.sent", 1),
    ] {
        assert_eq!(kinds.get(kind), Some(&count), "{kind}: {kinds:?}");
    }
    // What happened to the account, in order.
    let own: Vec<_> = events.iter().filter(|event| event["subject"] == *ana.from).cloned().collect();
    let order = ["transfer.completed", "transfer.completed", "hold.placed", "hold.voided", "account.frozen"];
    assert_eq!(texts(&own, "type")[..5], order);
    let ids: BTreeSet<_> = texts(&events, "id").into_iter().collect();
    assert_eq!(ids.len(), events.len());
    for event in &events {
        assert_eq!((&event["specversion"], &event["datacontenttype"]), (&"1.0".into(), &"application/json".into()));
        let kind = event["type"].as_str().unwrap();
        let schema = ops.get(&format!("{EVENTS}/schemas/{kind}")).await.assert_status(200).json();
        assert_eq!((&schema["$id"], &schema["title"]), (&event["dataschema"], &event["type"]));
        assert_valid(&schema, &event["data"]);
    }
    let sent = events.iter().find(|event| event["type"] == "mx.caudal.occurrence.sent").unwrap();
    let transfer = events.iter().find(|event| event["data"]["transactionId"] == sent["data"]["transactionId"]);
    assert_eq!(transfer.unwrap()["data"]["amount"], 3.0);

    // The same again, on another host, and nothing after the end; by type and by what types begin with.
    let other = TestApp::new(db).await;
    assert_eq!(all(&other.operator(Some("events:read")), "", String::new()).await.0, events);
    assert_eq!(all(&ops, "", cursor).await.0, [] as [Value; 0]);
    let (some, _) = all(&ops, "&types=mx.caudal.hold,mx.caudal.account.frozen", String::new()).await;
    assert_eq!(texts(&some, "type"), ["hold.placed", "hold.voided", "account.frozen"]);
    let latest = ops.get(EVENTS).await.json();
    assert_eq!((&latest["events"], &latest["isEnd"]), (&json!([]), &json!(true)));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_stream_goes_on_where_pages_end(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let reader = app.operator(Some("events:read"));
    let (_, cursor) = all(&reader, "", String::new()).await;
    let stream = reader.with("accept", "text/event-stream");
    let (status, mut body) = stream.stream(&format!("{EVENTS}?from={cursor}&types=mx.caudal.transfer")).await;
    assert_eq!(status, 200);
    ana.transfer(&from, &to, "7").await.assert_status(200);
    let frame = tokio::time::timeout(Duration::from_secs(5), body.frame()).await.unwrap().unwrap().unwrap();
    let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(field("data: ")).unwrap()[0]["data"]["amount"], 7.0);
    let again = stream.with("last-event-id", field("id: "));
    ana.transfer(&from, &to, "8").await.assert_status(200);
    let (_, mut body) = again.stream(EVENTS).await;
    let frame = tokio::time::timeout(Duration::from_secs(5), body.frame()).await.unwrap().unwrap().unwrap();
    let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    assert!(text.contains("\"amount\":8.0") && !text.contains("\"amount\":7.0"), "{text}");
    // As many as a host has room for.
    let mut open = vec![body];
    while open.len() < STREAMS_MAX {
        let (status, body) = stream.stream(EVENTS).await;
        if status == 200 { open.push(body) } else { break }
    }
    stream.get(EVENTS).await.assert_problem(503, "overloaded", None);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_no_cursor_type_or_scope_is_refused(db: PgPool) {
    let (app, ..) = TestApp::ready(db.clone()).await;
    let reader = app.operator(Some("events:read"));
    for scope in [None, Some("ledger:operate audit:read models:admin events:admin")] {
        refused(&app, app.operator(scope).get(EVENTS), 403, "insufficient-scope", None).await;
    }
    for (query, field) in [("from=x", "from"), ("types=mx.caudal.transf", "types"), ("types=", "types")] {
        refused(&app, reader.get(&format!("{EVENTS}?{query}")), 400, "validation-failed", Some(field)).await;
    }
    refused(&app, reader.get("/admin/events/schemas/mx.caudal.transfer"), 404, "not-found", None).await;
    let (_, cursor) = all(&reader, "", String::new()).await;
    // Of a chain that has no record yet.
    let chain = (1..).find(|chain| !cursor.contains(&format!("-r{chain}."))).unwrap();
    let ahead = format!("{cursor}-r{chain}.1");
    refused(&app, reader.get(&format!("{EVENTS}?from={ahead}")), 410, "cursor-expired", None).await;
    // A loss begins another history.
    accept_loss(&db, Uuid::new_v4(), (0, 0)).await;
    refused(&app, reader.get(&format!("{EVENTS}?from={cursor}")), 410, "cursor-expired", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn deployments_and_rollouts_are_events(db: PgPool) {
    let (app, ops, canary) = with_canary(&db).await;
    start(&ops, "nudge", asked(&canary)).await.assert_status(201);
    ops.post("/admin/models/nudge/rollouts/abort", json!({"reason": "a test"})).await.assert_status(200);
    let reader = app.operator(Some("events:read"));
    let (events, _) = all(&reader, "&types=mx.caudal.deployment,mx.caudal.rollout", String::new()).await;
    let want = ["deployment.changed", "rollout.started", "deployment.changed", "rollout.aborted"];
    assert_eq!(texts(&events, "type"), want);
    assert_eq!((&events[0]["subject"], &events[0]["data"]["details"]["canary_percent"]), (&json!("nudge"), &json!(40)));
    assert_eq!((&events[1]["data"]["details"]["kind"], &events[1]["data"]["by"]), (&json!("nudge"), &json!("ops")));
    for event in &events {
        let schema = reader.get(&format!("{EVENTS}/schemas/{}", event["type"].as_str().unwrap())).await.json();
        assert_valid(&schema, &event["data"]);
    }
}
