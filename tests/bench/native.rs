//! What a score is compared with: bare axum handlers that call the same models natively and answer the same JSON.
//!
//! In their favour: models that cannot be replaced, isolated or interrupted, no refusals that name every field, no
//! metrics, log, request ids or security headers, and no database beside them.
#![expect(clippy::unwrap_used, reason = "what cannot start or score should fail")]
#![expect(clippy::print_stdout, reason = "prints its address")]

use axum::routing::post;
use axum::{Json, Router};
use caudal_model::{accessibility, nudge, risk};
use serde::{Deserialize, Serialize};

/// The service's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RISK: risk::Weights<'static> =
    risk::Weights::built_in(include_bytes!("../../components/risk/models/risk-2/weights.bin"));
const NUDGE: nudge::Weights<'static> =
    nudge::Weights::built_in(include_bytes!("../../components/nudge/models/nudge-1/weights.bin"));
const ACCESSIBILITY: accessibility::Weights<'static> = accessibility::Weights::built_in(include_bytes!(
    "../../components/accessibility/models/accessibility-2/weights.bin"
));

#[tokio::main]
async fn main() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    let routes = Router::new()
        .route("/ai/risk", post(assess_risk))
        .route("/ai/nudge", post(assess_nudge))
        .route("/ai/accessibility", post(recommend));
    axum::serve(listener, routes).await.unwrap();
}

#[derive(Deserialize)]
struct RiskRequest {
    user_id: Option<String>,
    amount: f64,
    is_new_beneficiary: bool,
    hour_of_day: u8,
    num_past_transactions: u32,
    avg_transaction_amount: f64,
    max_transaction_amount: f64,
    num_transactions_to_beneficiary: u32,
    is_new_device: bool,
    geolocation_changed: bool,
    beneficiary_saved_minutes: Option<u32>,
}

#[derive(Serialize)]
struct RiskAnswer {
    user_id: Option<String>,
    model_version: &'static str,
    result: RiskResult,
}

#[derive(Serialize)]
struct RiskResult {
    risk_level: risk::Level,
    risk_score: f64,
    risk_factors: Vec<&'static str>,
}

async fn assess_risk(Json(it): Json<RiskRequest>) -> Json<RiskAnswer> {
    let facts = risk::Request {
        amount: it.amount,
        is_new_beneficiary: it.is_new_beneficiary,
        hour_of_day: it.hour_of_day,
        num_past_transactions: it.num_past_transactions,
        avg_transaction_amount: it.avg_transaction_amount,
        max_transaction_amount: it.max_transaction_amount,
        num_transactions_to_beneficiary: it.num_transactions_to_beneficiary,
        is_new_device: it.is_new_device,
        geolocation_changed: it.geolocation_changed,
        beneficiary_saved_minutes: it.beneficiary_saved_minutes,
    };
    let risk::Assessment { level, score, factors, .. } = risk::assess(&RISK, &facts).unwrap();
    let result = RiskResult { risk_level: level, risk_score: score, risk_factors: factors };
    Json(RiskAnswer { user_id: it.user_id, model_version: "risk-2.0.0+00000000", result })
}

#[derive(Deserialize)]
struct NudgeRequest {
    user_id: Option<String>,
    session_id: Option<String>,
    screen: String,
    num_validation_errors: u32,
    time_on_screen_seconds: u32,
    num_back_navigations: u32,
    steps_total: u32,
    current_step: u32,
}

#[derive(Serialize)]
struct NudgeAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    screen: String,
    model_version: &'static str,
    result: NudgeResult,
}

#[derive(Serialize)]
struct NudgeResult {
    needs_help: bool,
    difficulty_score: f64,
    recommended_nudge_type: nudge::Nudge,
    reason: &'static str,
}

async fn assess_nudge(Json(it): Json<NudgeRequest>) -> Json<NudgeAnswer> {
    let request = nudge::Request {
        screen: &it.screen,
        num_validation_errors: it.num_validation_errors,
        time_on_screen_seconds: it.time_on_screen_seconds,
        num_back_navigations: it.num_back_navigations,
        steps_total: it.steps_total,
        current_step: it.current_step,
    };
    let nudge::Assessment { score, band } = nudge::assess(&NUDGE, &request).unwrap();
    let result = NudgeResult {
        needs_help: band.needs_help,
        difficulty_score: score,
        recommended_nudge_type: band.nudge,
        reason: band.reason,
    };
    let NudgeRequest { user_id, session_id, screen, .. } = it;
    Json(NudgeAnswer { user_id, session_id, screen, model_version: "nudge-1.0.0+00000000", result })
}

#[derive(Deserialize)]
struct AccessibilityRequest {
    user_id: Option<String>,
    can_read_small_text: bool,
    uses_screen_reader: bool,
    feels_confident_with_apps: accessibility::AppConfidence,
    age_range: accessibility::AgeRange,
    avg_time_per_screen_seconds: u32,
    total_validation_errors: u32,
    requested_help_count: u32,
}

#[derive(Serialize)]
struct AccessibilityAnswer {
    user_id: Option<String>,
    model_version: &'static str,
    recommendation: Profile,
    confidence: f64,
    explanation: Vec<&'static str>,
}

#[derive(Serialize)]
struct Profile {
    theme: accessibility::Theme,
    screen_reader_mode: bool,
    font_scale: f64,
    nudging_level: accessibility::NudgingLevel,
    voice_feedback: bool,
}

async fn recommend(Json(it): Json<AccessibilityRequest>) -> Json<AccessibilityAnswer> {
    let request = accessibility::Request {
        can_read_small_text: it.can_read_small_text,
        uses_screen_reader: it.uses_screen_reader,
        feels_confident_with_apps: it.feels_confident_with_apps,
        age_range: it.age_range,
        avg_time_per_screen_seconds: it.avg_time_per_screen_seconds,
        total_validation_errors: it.total_validation_errors,
        requested_help_count: it.requested_help_count,
        behaviour_observed: true,
        language: accessibility::Language::EsMx,
    };
    let advice = accessibility::assess(&ACCESSIBILITY, &request);
    let recommendation = Profile {
        theme: advice.theme,
        screen_reader_mode: advice.screen_reader_mode,
        font_scale: advice.font_scale,
        nudging_level: advice.nudging_level,
        voice_feedback: advice.voice_feedback,
    };
    Json(AccessibilityAnswer {
        user_id: it.user_id,
        model_version: "accessibility-2.0.0+00000000",
        recommendation,
        confidence: advice.confidence,
        explanation: advice.explanation,
    })
}
