//! `/models`: the active models of the kinds that are public, by the digest of their content.

use caudal::domain::model::ModelKind;
use caudal::models::{Embedded, LoadedComponent};
use caudal::wasm::Runtime;
use serde_json::Value;
use sqlx::PgPool;

use crate::fixtures::fixture;
use crate::harness::{Answer, Options, TestApp, hostile_of};
use crate::swap::digest_of;

async fn publishing(db: PgPool, kinds: &[ModelKind]) -> TestApp {
    TestApp::with(db, Options { published: kinds.to_vec(), ..Options::default() }).await
}

fn activate(app: &TestApp, kind: ModelKind, bytes: &[u8]) {
    let loaded = LoadedComponent::load(&Runtime::new().unwrap(), kind, bytes).unwrap();
    app.models.activate(caudal::models::Registry::clone(&app.models.snapshot()).with(loaded));
}

fn url_of(answer: &Answer, part: &str) -> String {
    answer.json()[part]["url"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_active_models_can_be_fetched(db: PgPool) {
    let kinds = [ModelKind::Risk, ModelKind::Nudge, ModelKind::Accessibility];
    let app = publishing(db, &kinds).await;
    let anon = app.anon();
    for kind in kinds {
        let active = anon.get(&format!("/models/{kind}/active")).await;
        active.assert_status(200);
        let embedded = Embedded::ALL.into_iter().find(|it| it.kind == kind && it.by_default).unwrap();
        let digest = digest_of(embedded.bytes).to_string();
        let body = active.json();
        assert_eq!(body["kind"], kind.as_str());
        assert_eq!(body["wit"], "caudal:scoring@1.0.0");
        assert_eq!(body["sha256"], digest);
        assert_eq!(body["model_version"], app.models.snapshot().identity(kind).unwrap().version.to_string());
        assert_eq!(active.header("etag"), Some(format!("\"{}\"", digest_of(&active.bytes)).as_str()));
        assert_eq!(active.header("cache-control"), Some("no-cache"));
        assert_eq!(active.header("access-control-allow-origin"), Some("*"));

        for (part, media) in [("core", "application/wasm"), ("glue", "text/javascript; charset=utf-8")] {
            let file = anon.get(&url_of(&active, part)).await;
            file.assert_status(200);
            assert_eq!(file.header("content-type"), Some(media));
            assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
            assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(body[part]["sha256"], digest_of(&file.bytes).to_string());
            assert_eq!(body[part]["bytes"], file.bytes.len());
        }
        // What is signed, and that nobody signed it.
        let component = anon.get(&format!("/models/component/{digest}.wasm")).await;
        component.assert_status(200);
        assert_eq!(digest_of(&component.bytes).to_string(), digest);
        anon.get(&format!("/models/signature/{digest}.sig")).await.assert_problem(404, "not-found", None);

        // The code is that of the component.
        let core = anon.get(&url_of(&active, "core")).await.bytes;
        assert!(embedded.bytes.windows(core.len()).any(|window| window == core), "{kind}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_cached_copy_gets_304(db: PgPool) {
    let app = publishing(db, &[ModelKind::Nudge]).await;
    let active = app.anon().get("/models/nudge/active").await;
    let etag = active.header("etag").unwrap().to_owned();
    let known = app.anon().with("if-none-match", &etag).get("/models/nudge/active").await;
    known.assert_status(304);
    assert_eq!((known.text.as_str(), known.header("etag")), ("", Some(etag.as_str())));
    let other = app.anon().with("if-none-match", "\"0\"").get("/models/nudge/active").await;
    other.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unpublished_kinds_answer_404(db: PgPool) {
    let app = publishing(db, &[ModelKind::Nudge]).await;
    for kind in ["risk", "accessibility", "transfer-rules", "other", "NUDGE"] {
        let path = format!("/models/{kind}/active");
        app.anon().get(&path).await.assert_problem(404, "not-found", None);
    }
    let risk = Embedded::ALL.into_iter().find(|it| it.kind == ModelKind::Risk).unwrap();
    let core = caudal::wasm::Portable::new("risk", risk.bytes).unwrap().core;
    let path = format!("/models/core/{}.wasm", digest_of(&core));
    app.anon().get(&path).await.assert_problem(404, "not-found", None);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn after_a_swap_the_files_promised_before_stay_available(db: PgPool) {
    let app = publishing(db, &[ModelKind::Risk]).await;
    let before = app.anon().get("/models/risk/active").await;
    activate(&app, ModelKind::Risk, Embedded::find("risk-1").unwrap().bytes);
    let etag = before.header("etag").unwrap();
    let after = app.anon().with("if-none-match", etag).get("/models/risk/active").await;
    after.assert_status(200);
    let version = |answer: &Answer| answer.json()["model_version"].as_str().unwrap().to_owned();
    assert!(version(&before).starts_with("risk-2.") && version(&after).starts_with("risk-1."));
    // The same glue, another core.
    let glue = |answer: &Answer| -> Value { answer.json()["glue"].clone() };
    assert_eq!(glue(&before), glue(&after));
    assert_ne!(url_of(&before, "core"), url_of(&after, "core"));
    for answer in [&before, &after] {
        app.anon().get(&url_of(answer, "core")).await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_serves_files_that_another_host_promised(db: PgPool) {
    let named = {
        let app = publishing(db.clone(), &[ModelKind::Nudge]).await;
        url_of(&app.anon().get("/models/nudge/active").await, "core")
    };
    let other = publishing(db, &[ModelKind::Nudge]).await;
    other.anon().get(&named).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn models_that_pages_cannot_run_are_not_published(db: PgPool) {
    let app = publishing(db, &[ModelKind::Risk, ModelKind::Nudge]).await;
    activate(&app, ModelKind::Risk, &fixture("javascript.wasm"));
    app.anon().get("/models/risk/active").await.assert_problem(409, "not-publishable", None);
    // Made by the same tools from the same world, it fits the glue, whatever it does.
    activate(&app, ModelKind::Nudge, &hostile_of("7.0.0"));
    let active = app.anon().get("/models/nudge/active").await;
    let status = active.status.as_u16();
    assert!(status == 200 || status == 409, "{active:?}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn only_promised_names_are_found(db: PgPool) {
    let app = publishing(db, &[ModelKind::Nudge]).await;
    let active = app.anon().get("/models/nudge/active").await;
    let (core, glue) = (url_of(&active, "core"), url_of(&active, "glue"));
    let digest = core.trim_start_matches("/models/core/").trim_end_matches(".wasm").to_owned();
    for path in [
        core.replace(".wasm", ".js"),
        core.replace(".wasm", ""),
        core.replace("/core/", "/glue/"),
        core.replace("/core/", "/glue/").replace(".wasm", ".js"),
        glue.replace("/glue/", "/core/"),
        glue.replace("/glue/", "/core/").replace(".js", ".wasm"),
        format!("/models/core/{}.wasm", digest.to_uppercase()),
        format!("/models/core/{}.wasm", "0".repeat(64)),
        "/models/core/..%2f..%2fetc%2fpasswd.wasm".to_owned(),
    ] {
        app.anon().get(&path).await.assert_problem(404, "not-found", None);
    }
}
