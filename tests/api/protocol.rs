//! Applies to every path of the ledger API: the order of checks, sizes, types and methods.

use axum::body::Body;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{CLABE, TestApp, refused};

/// Every path with its methods.
const ROUTES: [(&str, &[&str]); 14] = [
    ("/api/ledger/accounts", &["GET", "POST"]),
    ("/api/ledger/accounts/01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", &["GET"]),
    ("/api/ledger/beneficiaries", &["GET", "POST"]),
    ("/api/ledger/beneficiaries/01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", &["DELETE"]),
    ("/api/ledger/transactions", &["GET", "POST"]),
    ("/api/ledger/transactions/bulk", &["POST"]),
    ("/api/ledger/holds", &["GET", "POST"]),
    ("/api/ledger/holds/01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", &["GET"]),
    ("/api/ledger/holds/01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b/capture", &["POST"]),
    ("/api/ledger/holds/01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b/void", &["POST"]),
    ("/api/ledger/risk-context", &["GET"]),
    ("/api/analytics/events", &["POST"]),
    ("/api/analytics/consent", &["GET", "PUT"]),
    ("/api/profile/accessibility", &["GET", "PUT"]),
];

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn without_a_token_nothing_else_is_revealed(db: PgPool) {
    let app = TestApp::new(db).await;
    let anon = app.anon();
    for (path, methods) in ROUTES {
        for method in methods.iter().chain(&["PATCH"]) {
            let bodies = [
                (Some("application/json"), "{}"),
                (Some("application/json"), "{"),
                (Some("text/plain"), "x"),
                (None, ""),
            ];
            for (content_type, body) in bodies {
                refused(&app, anon.send(method, path, content_type, body.into()), 401, "unauthorized", None).await;
                let allow = anon.send(method, path, content_type, body.into()).await.headers.contains_key("allow");
                assert!(!allow, "{method} {path} reveals its methods");
            }
        }
    }
    for path in ["/api", "/api/", "/api/ledger/nothing", "/api/ledger/accounts/", "/api/ledger/beneficiaries/%FF"] {
        let answer = anon.get(path).await;
        answer.assert_problem(401, "unauthorized", None);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unknown_paths_and_methods_get_different_errors(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    for path in
        ["/api/ledger/nothing", "/api/ledger/accounts/", "/api/ledger/accounts/1", "/nothing", "/models", "/apiary"]
    {
        refused(&app, ana.get(path), 404, "not-found", None).await;
    }
    for (path, methods) in ROUTES {
        refused(&app, ana.send("TRACE", path, None, Body::empty()), 405, "method-not-allowed", None).await;
        let answer = ana.send("TRACE", path, None, Body::empty()).await;
        let allowed = answer.header("allow").unwrap();
        assert!(methods.iter().all(|method| allowed.contains(method)), "{path}: {allowed}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn bodies_must_be_json_within_the_size_limit(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let path = "/api/ledger/accounts";
    let good = json!({"accountNumber": CLABE, "accountType": "checking"}).to_string();
    for content_type in
        [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonx"), Some("json")]
    {
        let sent = ana.send("POST", path, content_type, good.clone().into());
        refused(&app, sent, 415, "unsupported-media-type", None).await;
    }
    for body in
        ["", "{", "{\"accountNumber\":", "nonsense", "{\"accountNumber\":\"1\",}", "{} {}", "{'a':1}", "\u{feff}{}"]
    {
        refused(&app, ana.post_text(path, body), 400, "malformed-json", None).await;
    }
    let twice = r#"{"accountNumber":"1","accountNumber":"2","accountType":"x"}"#;
    refused(&app, ana.post_text(path, twice), 400, "malformed-json", None).await;
    let invalid_utf8 =
        ana.send("POST", path, Some("application/json"), vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}'].into());
    refused(&app, invalid_utf8, 400, "malformed-json", None).await;

    let padded = |length: usize| format!("{good}{}", " ".repeat(length - good.len()));
    refused(&app, ana.post_text(path, &padded((64 << 10) + 1)), 413, "payload-too-large", None).await;
    ana.post_text(path, &padded(64 << 10)).await.assert_status(201);
    for content_type in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.bank+json"] {
        let body = json!({"accountNumber": content_type, "accountType": "x"}).to_string();
        ana.send("POST", path, Some(content_type), body.into()).await.assert_status(201);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn compressed_bodies_are_refused(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let account = |number: &str| json!({"accountNumber": number, "accountType": "checking"});
    for encoding in ["gzip", "br", "deflate", "identity, gzip", "x"] {
        let path = "/api/ledger/accounts";
        let answer = ana.with("content-encoding", encoding).post(path, account("1")).await;
        answer.assert_problem(415, "unsupported-media-type", None);
        assert_eq!(answer.header("accept-encoding"), Some("identity"), "{answer:?}");
        let ops = app.operator(Some("models:admin")).with("content-encoding", encoding);
        let pushed = ops.send("POST", "/admin/models/risk/versions", Some("application/wasm"), Body::empty()).await;
        pushed.assert_problem(415, "unsupported-media-type", None);
        let scored =
            app.ai().with("content-encoding", encoding).post("/ai/nudge", crate::harness::on_screen("a")).await;
        scored.assert_problem(415, "unsupported-media-type", None);
    }
    ana.with("content-encoding", "Identity").post("/api/ledger/accounts", account(CLABE)).await.assert_status(201);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn answers_are_neither_stored_nor_guessed_at(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, anon, ai) = (app.user("ana"), app.anon(), app.ai());
    let ops = app.operator(Some("models:admin"));
    for answer in [
        ana.get("/api/ledger/accounts").await,
        ana.get("/api/ledger/accounts?limit=1").await,
        ana.get("/api/ledger/nothing").await,
        anon.get("/api/ledger/accounts").await,
        ana.post("/api/ledger/accounts", json!({})).await,
        ana.get("/api/profile/accessibility").await,
        ai.post("/ai/nudge", crate::harness::on_screen("home")).await,
        ai.get("/ai/health").await,
        ops.get("/admin/models").await,
    ] {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{answer:?}");
        let policy = answer.header("content-security-policy");
        assert_eq!(policy, Some("default-src 'none'; frame-ancestors 'none'"), "{answer:?}");
    }
    // Pages have a policy of their own.
    for page in [anon.get("/").await, ai.get("/reference").await, ai.get("/console").await] {
        page.assert_status(200);
        assert_eq!(page.header("cache-control"), Some("no-cache"), "{page:?}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"), "{page:?}");
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"), "{page:?}");
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"), "{page:?}");
        assert!(page.header("permissions-policy").unwrap().contains("geolocation=()"), "{page:?}");
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn deeply_nested_json_is_refused_and_never_fatal(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let deep = format!("{}1{}", "[".repeat(30_000), "]".repeat(30_000));
    let body = format!(r#"{{"accountNumber":{deep},"accountType":"x"}}"#);
    let sent = ana.post_text("/api/ledger/accounts", &body);
    refused(&app, sent, 400, "validation-failed", Some("accountNumber")).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn without_the_database_requests_get_503(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let anon = app.anon();
    assert_eq!(anon.get("/livez").await.assert_status(200).json(), json!({"status": "ok"}));
    anon.get("/readyz").await.assert_status(200);
    app.served.pool().close().await;
    anon.get("/livez").await.assert_status(200);
    assert_eq!(anon.get("/readyz").await.assert_status(503).json()["database"], false);
    let answer = ana.get("/api/ledger/accounts").await;
    answer.assert_problem(503, "database-unavailable", None);
    assert_eq!(answer.header("retry-after"), Some("1"));
}
