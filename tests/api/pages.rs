//! Files for browsers: the bank's page, its scoring package and the console; and the sandbox's tokens.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::{Options, TestApp};

async fn sandbox(db: PgPool) -> TestApp {
    TestApp::with(db, Options { sandbox: true, ..Options::default() }).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_page_and_its_files_have_a_strict_policy(db: PgPool) {
    let app = TestApp::new(db).await;
    for (path, media) in [
        ("/", "text/html; charset=utf-8"),
        ("/bank/index.html", "text/html; charset=utf-8"),
        ("/shared/dom.js", "text/javascript; charset=utf-8"),
        ("/scorers/dist/entry/page.js", "text/javascript; charset=utf-8"),
        ("/scorers/dist/core/risk-1.core.wasm", "application/wasm"),
    ] {
        let answer = app.anon().get(path).await;
        answer.assert_status(200);
        assert_eq!(answer.header("content-type"), Some(media), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self' 'wasm-unsafe-eval';"));
        assert!(!policy.contains("unsafe-inline") && !policy.contains("http"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        let etag = answer.header("etag").unwrap();
        app.anon().with("if-none-match", etag).get(path).await.assert_status(304);
    }
    for path in ["/console", "/shared/dom.js"] {
        app.ai().get(path).await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn other_files_are_not_found(db: PgPool) {
    let app = TestApp::new(db).await;
    for path in [
        "/index.html",
        "/bank/",
        "/bank/nothing.js",
        "/bank/..%2fconsole%2fapi.js",
        "/scorers/dist/core/transfer-rules.core.wasm",
        "/console",
    ] {
        app.anon().get(path).await.assert_problem(404, "not-found", None);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_sandbox_mints_a_token_for_any_user(db: PgPool) {
    let app = sandbox(db).await;
    let local = app.anon().with("host", "127.0.0.1:8080");
    local.get("/sandbox").await.assert_status(200);
    let answer = local.post("/sandbox/token", json!({"user": "ana"})).await;
    answer.assert_status(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.json()["user"], "ana");
    assert_eq!(answer.json()["expiresAt"], "2026-11-22T18:00:00.000Z");
    let bearer = format!("Bearer {}", answer.json()["token"].as_str().unwrap());
    app.anon().with("authorization", &bearer).get("/api/ledger/accounts").await.assert_status(200);
    // It has no scope.
    app.ai().with("authorization", &bearer).get("/admin/models").await.assert_problem(403, "insufficient-scope", None);
    for user in
        [json!({}), json!({"user": ""}), json!({"user": " "}), json!({"user": 1}), json!({"user": "x".repeat(256)})]
    {
        local.post("/sandbox/token", user).await.assert_problem(400, "validation-failed", Some("user"));
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn only_the_sandbox_mints_tokens(db: PgPool) {
    let production = TestApp::new(db.clone()).await;
    let local = production.anon().with("host", "localhost:8080");
    local.get("/sandbox").await.assert_problem(404, "not-found", None);
    local.post("/sandbox/token", json!({"user": "ana"})).await.assert_problem(404, "not-found", None);
    // Nor has another host's public listener the viewer of the API.
    for path in ["/reference", "/vendored/rapidoc-min.js"] {
        local.get(path).await.assert_problem(404, "not-found", None);
        production.ai().get(path).await.assert_status(200);
    }
    let app = sandbox(db).await;
    for path in ["/reference", "/vendored/rapidoc-min.js"] {
        app.anon().with("host", "localhost").get(path).await.assert_status(200);
    }
    // A page on another host that rebound its name to this address.
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8080"] {
        let elsewhere = app.anon().with("host", host);
        elsewhere.post("/sandbox/token", json!({"user": "ana"})).await.assert_problem(404, "not-found", None);
    }
    let twice = app.anon().with("host", "localhost").with("host", "evil.example");
    twice.post("/sandbox/token", json!({"user": "ana"})).await.assert_problem(404, "not-found", None);
    app.anon().post("/sandbox/token", json!({"user": "ana"})).await.assert_problem(404, "not-found", None);
}
