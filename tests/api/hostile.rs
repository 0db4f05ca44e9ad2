//! A misbehaving model behind the API: its request gets 503, and no other request is affected.

use caudal::domain::model::ModelKind;
use caudal::models::LoadedComponent;
use caudal::wasm::Runtime;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{TestApp, hostile, on_screen, refused, registry};

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_hostile_model_is_answered_with_503_and_contained(db: PgPool) {
    let app = TestApp::new(db).await;
    let hostile = LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::Nudge, &hostile()).unwrap();
    app.models.activate(registry().with(hostile));
    let ai = app.ai();
    let risk = json!({
        "amount": 100, "is_new_beneficiary": false, "hour_of_day": 12, "num_past_transactions": 9,
        "avg_transaction_amount": 100, "max_transaction_amount": 200, "num_transactions_to_beneficiary": 3,
        "is_new_device": false, "geolocation_changed": false,
    });
    for screen in ["loop", "trap", "grow", "recurse", "huge", "nan", "range", "mismatch", "unknown-reason", "invalid"] {
        refused(&app, ai.post("/ai/nudge", on_screen(screen)), 503, "model-unavailable", None).await;
        ai.post("/ai/risk", risk.clone()).await.assert_status(200);
        ai.post("/ai/nudge", on_screen("home")).await.assert_status(200);
    }
}
