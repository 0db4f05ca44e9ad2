//! What the assistance API refuses, and how it says so.

use std::fmt::Display;

use axum::body::Body;
use axum::http::Request;
use caudal::domain::model::ModelKind;
use serde_json::{Value, json};
use sqlx::PgPool;
use tower::ServiceExt as _;

use crate::assistance::{accessibility, nudge, risk, with};
use crate::harness::{Answer, TestApp, refused, registry};

/// Largest body, in bytes.
const BODY_BYTES_MAX: usize = 65_536;

/// Puts the case into every message about its answer.
pub(crate) async fn in_case(case: impl Display, answer: impl Future<Output = Answer>) -> Answer {
    let mut answer = answer.await;
    answer.path = format!("{}?{case}", answer.path);
    answer
}

/// The JSON text of `body` with one field set to `raw`.
pub(crate) fn with_raw(body: &Value, field: &str, raw: &str) -> String {
    let others = body.as_object().unwrap().iter().filter(|(name, _)| name.as_str() != field);
    let members: String = others.map(|(name, value)| format!("\"{name}\":{value},")).collect();
    format!("{{{members}\"{field}\":{raw}}}")
}

fn endpoints() -> [(&'static str, Value, usize); 3] {
    [("/ai/risk", risk(), 9), ("/ai/nudge", nudge(), 6), ("/ai/accessibility", accessibility(), 7)]
}

/// Expects a refusal that names exactly `fields`.
async fn refuse_fields(app: &TestApp, path: &str, body: &str, fields: &[&str]) {
    let answer = async {
        let answer = in_case(body, app.ai().post_text(path, body)).await;
        let errors = answer.json()["errors"].as_array().cloned().unwrap_or_default();
        let mut named: Vec<&str> = errors.iter().map(|error| error["field"].as_str().unwrap()).collect();
        let mut fields = fields.to_vec();
        named.sort_unstable();
        fields.sort_unstable();
        assert_eq!(named, fields, "{answer:?}");
        answer
    };
    refused(app, answer, 422, "validation-failed", fields.first().copied()).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn required_fields_must_be_present_and_not_null(db: PgPool) {
    let app = TestApp::new(db).await;
    for (path, valid, count) in endpoints() {
        let required: Vec<String> = valid.as_object().unwrap().keys().cloned().collect();
        assert_eq!(required.len(), count, "{path}");
        for field in &required {
            let mut without = valid.clone();
            without.as_object_mut().unwrap().remove(field);
            refuse_fields(&app, path, &without.to_string(), &[field]).await;
            refuse_fields(&app, path, &with_raw(&valid, field, "null"), &[field]).await;
        }
        let all: Vec<&str> = required.iter().map(String::as_str).collect();
        refuse_fields(&app, path, "{}", &all).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn numbers_must_be_in_range(db: PgPool) {
    let app = TestApp::new(db).await;
    let not_numbers = [r#""5""#, r#""""#, "true", "[]", "{}"];
    let risk_counts = ["num_past_transactions", "num_transactions_to_beneficiary", "beneficiary_saved_minutes"];
    let money = ["amount", "avg_transaction_amount", "max_transaction_amount"];
    let seen = ["num_validation_errors", "time_on_screen_seconds", "num_back_navigations"];
    let behaviour = ["avg_time_per_screen_seconds", "total_validation_errors", "requested_help_count"];
    for (path, valid, fields, values) in [
        ("/ai/risk", risk(), &money[..], &["-0.01", "-1", "-1e400", "1e400"][..]),
        ("/ai/risk", risk(), &["hour_of_day"], &["-1", "24", "1.5", "-0.5", "1e400"]),
        ("/ai/risk", risk(), &risk_counts, &["-1", "1.5", "-1e400"]),
        ("/ai/nudge", nudge(), &seen, &["-1", "1.5"]),
        ("/ai/nudge", nudge(), &["steps_total", "current_step"], &["-1", "0", "0.0", "1.5"]),
        ("/ai/accessibility", accessibility(), &behaviour, &["-1", "1.5"]),
    ] {
        for field in fields {
            for raw in values.iter().chain(&not_numbers) {
                refuse_fields(&app, path, &with_raw(&valid, field, raw), &[field]).await;
            }
        }
    }
    // Ranges are inclusive.
    for hour in [0, 23] {
        app.ai().post("/ai/risk", with(risk(), &json!({"hour_of_day": hour}))).await.assert_status(200);
    }
    let nothing = json!({"amount": 0, "avg_transaction_amount": 0, "max_transaction_amount": 0,
        "num_past_transactions": 0, "num_transactions_to_beneficiary": 0});
    app.ai().post("/ai/risk", with(risk(), &nothing)).await.assert_status(200);
    let shortest = json!({"steps_total": 1, "current_step": 1});
    app.ai().post("/ai/nudge", with(nudge(), &shortest)).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn booleans_and_fixed_values_are_exact(db: PgPool) {
    let app = TestApp::new(db).await;
    let flags = ["is_new_beneficiary", "is_new_device", "geolocation_changed"];
    let answers = ["can_read_small_text", "uses_screen_reader"];
    let not_booleans = [r#""true""#, r#""no""#, "0", "1", "[]"];
    let confidences = [r#""LOW""#, r#""none""#, r#""""#, r#"" low""#, "1", "true"];
    let ages = [r#""18-30""#, r#""60+""#, r#""51_60 ""#, r#""""#, "60", "[]"];
    for (path, valid, fields, values) in [
        ("/ai/risk", risk(), &flags[..], &not_booleans[..]),
        ("/ai/accessibility", accessibility(), &answers, &not_booleans),
        ("/ai/accessibility", accessibility(), &["feels_confident_with_apps"], &confidences),
        ("/ai/accessibility", accessibility(), &["age_range"], &ages),
    ] {
        for field in fields {
            for raw in values {
                refuse_fields(&app, path, &with_raw(&valid, field, raw), &[field]).await;
            }
        }
    }
    // The short name beside a conflicting full name.
    let conflict = with(accessibility(), &json!({"app_confidence": "low"}));
    refuse_fields(&app, "/ai/accessibility", &conflict.to_string(), &["app_confidence"]).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_wrong_short_name_is_one_fault_with_and_without_the_full_name(db: PgPool) {
    let app = TestApp::new(db).await;
    let mut bare = accessibility();
    bare.as_object_mut().unwrap().remove("feels_confident_with_apps");
    for raw in [r#""LOW""#, r#""none""#, r#""""#, "1"] {
        for body in [&bare, &accessibility()] {
            refuse_fields(&app, "/ai/accessibility", &with_raw(body, "app_confidence", raw), &["app_confidence"]).await;
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn text_is_neither_blank_nor_long_and_holds_no_nul(db: PgPool) {
    let app = TestApp::new(db).await;
    let screens = [r#""""#, r#""  ""#, r#""\t\n""#, r#""a\u0000b""#, "5", "true", "[]"];
    for raw in screens.map(str::to_owned).into_iter().chain([format!("\"{}\"", "s".repeat(65))]) {
        refuse_fields(&app, "/ai/nudge", &with_raw(&nudge(), "screen", &raw), &["screen"]).await;
    }
    let longest = json!({"screen": "ñ".repeat(64), "user_id": "u".repeat(255), "session_id": "ü".repeat(255)});
    let answer = app.ai().post("/ai/nudge", with(nudge(), &longest)).await.assert_status(200).json();
    for field in ["screen", "user_id", "session_id"] {
        assert_eq!(answer[field], longest[field]);
    }
    for (path, valid, _) in endpoints() {
        for raw in ["5", "true", "{}", r#""a\u0000""#, &format!("\"{}\"", "u".repeat(256))] {
            refuse_fields(&app, path, &with_raw(&valid, "user_id", raw), &["user_id"]).await;
        }
    }
    let session = with_raw(&nudge(), "session_id", &format!("\"{}\"", "s".repeat(256)));
    refuse_fields(&app, "/ai/nudge", &session, &["session_id"]).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn several_faults_are_all_named(db: PgPool) {
    let app = TestApp::new(db).await;
    let wrong = json!({"amount": -1, "hour_of_day": 24, "is_new_device": null, "user_id": 7});
    let fields = ["amount", "hour_of_day", "is_new_device", "user_id"];
    refuse_fields(&app, "/ai/risk", &with(risk(), &wrong).to_string(), &fields).await;
    let wrong = json!({"screen": " ", "steps_total": 0, "current_step": "2"});
    let fields = ["screen", "steps_total", "current_step"];
    refuse_fields(&app, "/ai/nudge", &with(nudge(), &wrong).to_string(), &fields).await;
    let wrong = json!({"feels_confident_with_apps": "no", "age_range": "old", "requested_help_count": -1});
    let fields = ["feels_confident_with_apps", "age_range", "requested_help_count"];
    refuse_fields(&app, "/ai/accessibility", &with(accessibility(), &wrong).to_string(), &fields).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn text_that_is_not_json_is_malformed_and_other_types_than_objects_are_invalid(db: PgPool) {
    let app = TestApp::new(db).await;
    for (path, valid, _) in endpoints() {
        let (field, value) = valid.as_object().unwrap().iter().next().unwrap();
        let twice = format!("{},\"{field}\":{value}}}", valid.to_string().trim_end_matches('}'));
        let null_first = format!("{{\"{field}\":null,{}", &valid.to_string()[1..]);
        let number = |raw: &str| with_raw(&valid, field, raw);
        let numbers = ["NaN", "+1", "01", "1.", ".5", "0x1", "1e", "'1'"].map(number);
        let broken = ["", " ", "{", "nonsense", "{} {}", "{\"a\"}", "{\"a\":1,}", "{a:1}"].map(str::to_owned);
        for body in broken.into_iter().chain(numbers).chain([twice, null_first]) {
            refused(&app, in_case(&body, app.ai().post_text(path, &body)), 400, "malformed-json", None).await;
        }
        for body in ["[]", "[{}]", "null", "true", "17", "\"text\""] {
            refuse_fields(&app, path, body, &[""]).await;
        }
        let bytes = [b"{\"user_id\":\"\xff\"}".as_slice(), b"{\"\xff\":1}"];
        for bytes in bytes {
            let ai = app.ai();
            let answer = ai.send("POST", path, Some("application/json"), Body::from(bytes));
            refused(&app, in_case("not UTF-8", answer), 400, "malformed-json", None).await;
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_broken_array_is_malformed_too(db: PgPool) {
    let app = TestApp::new(db).await;
    for body in ["[", "[1,", "[}", "[] []", "null x"] {
        refused(&app, in_case(body, app.ai().post_text("/ai/risk", body)), 400, "malformed-json", None).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn other_media_types_and_large_bodies_are_refused(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    for (path, valid, _) in endpoints() {
        let text = valid.to_string();
        for kind in
            [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("text/json"), Some("json")]
        {
            let answer = in_case(format!("{kind:?}"), ai.send("POST", path, kind, text.clone().into()));
            refused(&app, answer, 415, "unsupported-media-type", None).await;
        }
        for kind in ["application/json; charset=utf-8", "Application/JSON", "application/vnd.caudal+json"] {
            let answer = ai.send("POST", path, Some(kind), text.clone().into()).await;
            assert_eq!(answer.status, 200, "{kind}: {answer:?}");
        }
        let padded = |bytes: usize| {
            let bare = with_raw(&valid, "pad", "\"\"").len();
            with_raw(&valid, "pad", &format!("\"{}\"", "x".repeat(bytes - bare)))
        };
        ai.post_text(path, &padded(BODY_BYTES_MAX)).await.assert_status(200);
        for bytes in [BODY_BYTES_MAX + 1, 65 << 10, 1 << 20] {
            let body = padded(bytes);
            refused(&app, in_case(bytes, ai.post_text(path, &body)), 413, "payload-too-large", None).await;
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unknown_paths_and_methods_are_problems_without_any_cors_header(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai().with("origin", "https://evil.example").with("access-control-request-method", "POST");
    for path in ["/", "/ai", "/ai/", "/ai/risk/", "/ai/Risk", "/ai/unknown", "/api/ledger/accounts"] {
        refused(&app, ai.get(path), 404, "not-found", None).await;
        refused(&app, ai.post(path, risk()), 404, "not-found", None).await;
    }
    let no_cors = |answer: &Answer| {
        let cors = answer.headers.keys().find(|name| name.as_str().starts_with("access-control-"));
        assert_eq!(cors, None, "{answer:?}");
    };
    for (path, allowed) in
        [("/ai/risk", "POST"), ("/ai/nudge", "POST"), ("/ai/accessibility", "POST"), ("/ai/health", "GET,HEAD")]
    {
        for method in ["OPTIONS", "PUT", "PATCH", "DELETE", if allowed == "POST" { "GET" } else { "POST" }] {
            let answer = async {
                let answer = in_case(method, ai.send(method, path, None, Body::empty())).await;
                assert_eq!(answer.header("allow"), Some(allowed), "{answer:?}");
                no_cors(&answer);
                answer
            };
            refused(&app, answer, 405, "method-not-allowed", None).await;
        }
    }
    no_cors(ai.get("/ai/health").await.assert_status(200));
    for (path, valid, _) in endpoints() {
        no_cors(ai.post(path, valid).await.assert_status(200));
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_endpoint_looks_at_a_token(db: PgPool) {
    let app = TestApp::new(db).await;
    for ai in [app.ai(), app.ai().with("authorization", "Bearer nonsense")] {
        ai.get("/ai/health").await.assert_status(200);
        for (path, valid, _) in endpoints() {
            ai.post(path, valid).await.assert_status(200);
        }
    }
}

/// Sends a request with another `Host` header than the client's, or with none.
async fn send_to_host(app: &TestApp, host: Option<&str>, method: &str, path: &str, body: &str) -> Answer {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if let Some(host) = host {
        request = request.header("host", host);
    }
    let response = app.assist.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, BODY_BYTES_MAX).await.unwrap().to_vec();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Answer { path: path.to_owned(), status: parts.status, headers: parts.headers, text, bytes }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_page_that_rebinds_a_name_of_its_own_gets_nothing(db: PgPool) {
    let app = TestApp::new(db).await;
    let body = risk().to_string();
    let requests = [("GET", "/ai/health", ""), ("POST", "/ai/risk", body.as_str()), ("GET", "/ai/unknown", "")];
    let foreign =
        ["evil.example", "evil.example:8081", "localhost.evil.example", "evil-localhost:8081", "192.0.2.1:8081", ""];
    for (method, path, body) in requests {
        for host in foreign.map(Some).into_iter().chain([None]) {
            let answer = in_case(format!("{host:?}"), send_to_host(&app, host, method, path, body));
            refused(&app, answer, 421, "host-not-allowed", None).await;
        }
    }
    for host in ["localhost", "localhost:8081", "LocalHost:9"] {
        send_to_host(&app, Some(host), "POST", "/ai/risk", &body).await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_missing_model_is_unavailable_and_the_others_still_answer(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let without = [
        ("/ai/risk", registry().without(ModelKind::Risk)),
        ("/ai/nudge", registry().without(ModelKind::Nudge)),
        ("/ai/accessibility", registry().without(ModelKind::Accessibility)),
    ];
    for (missing, registry) in without {
        app.models.activate(registry);
        for (path, body) in [("/ai/risk", risk()), ("/ai/nudge", nudge()), ("/ai/accessibility", accessibility())] {
            if path != missing {
                ai.post(path, body).await.assert_status(200);
                continue;
            }
            let answer = async {
                let answer = ai.post(path, body).await;
                assert_eq!(answer.header("retry-after"), Some("1"), "{answer:?}");
                answer
            };
            refused(&app, answer, 503, "model-unavailable", None).await;
        }
        let status = if missing == "/ai/nudge" { 503 } else { 200 };
        ai.get("/ai/health").await.assert_status(status);
    }
    app.models.activate(registry());
    ai.post("/ai/nudge", nudge()).await.assert_status(200);
}
