//! A model that misbehaves, behind the API: a 503 that says so, and nobody else notices.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use caudal::models::Registry;
use caudal::wasm::{NudgeScorer, Runtime};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{TestApp, refused, registry};

fn on_screen(screen: &str) -> Value {
    json!({
        "screen": screen, "num_validation_errors": 0, "time_on_screen_seconds": 0, "num_back_navigations": 0,
        "steps_total": 1, "current_step": 1,
    })
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_hostile_model_is_answered_with_503_and_contained(db: PgPool) {
    let app = TestApp::new(db).await;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/components/fixtures/hostile.wasm");
    let bytes = fs::read(path).expect("run `components/build.sh --fixtures` first");
    let runtime = Runtime::new().unwrap();
    let hostile = NudgeScorer::load(&runtime, &bytes).unwrap();
    app.models.activate(Registry { nudge: Some(Arc::new(hostile)), ..registry() });
    let ai = app.ai();
    let risk = json!({
        "amount": 100, "is_new_beneficiary": false, "hour_of_day": 12, "num_past_transactions": 9,
        "avg_transaction_amount": 100, "max_transaction_amount": 200, "num_transactions_to_beneficiary": 3,
        "is_new_device": false, "geolocation_changed": false,
    });
    for screen in ["loop", "trap", "grow", "recurse", "huge", "nan", "range", "mismatch", "unknown-reason", "invalid"] {
        refused(&app, ai.post("/ai/nudge", on_screen(screen)), 503, "model-unavailable", None).await;
        ai.post("/ai/risk", risk.clone()).await.assert_status(200);
        let sane = ai.post("/ai/nudge", on_screen("home")).await;
        // A busy machine may take the time that a good answer needs: once more, then.
        let sane = if sane.status == 503 { ai.post("/ai/nudge", on_screen("home")).await } else { sane };
        sane.assert_status(200);
    }
}
