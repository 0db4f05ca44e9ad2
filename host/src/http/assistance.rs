//! `/ai/risk`, `/ai/nudge`, `/ai/accessibility`: stateless scores from the components.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use serde::Serialize;

use super::analytics::LABEL_CHARS_MAX;
use super::error::Error;
use super::extract::AssistBody;
use super::fields::Fields;
use crate::app::App;
use crate::domain::accessibility::{self, AgeRange, AppConfidence, Language};
use crate::domain::{nudge, risk};
use crate::models::Scored;

/// Longest user or session identifier.
const ID_CHARS_MAX: usize = 255;

/// Last hour of a day.
const HOUR_MAX: u8 = 23;

/// The answer of `/ai/risk`.
#[derive(Serialize)]
pub(super) struct RiskJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    model_version: String,
    result: RiskResult,
}

#[derive(Serialize)]
struct RiskResult {
    risk_level: &'static str,
    risk_score: f64,
    risk_factors: Vec<String>,
}

impl RiskJson {
    pub(super) fn new(user_id: Option<String>, scored: Scored<risk::Assessment>) -> Self {
        let Scored { assessment, version } = scored;
        let result = RiskResult {
            risk_level: assessment.level.as_str(),
            risk_score: assessment.score,
            risk_factors: assessment.factors,
        };
        Self { user_id, model_version: version.to_string(), result }
    }
}

/// Scores a transfer.
pub(super) async fn assess_risk(
    State(app): State<App>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<RiskJson>, Error> {
    let user_id = fields.optional_text("user_id", ID_CHARS_MAX);
    let request = risk::Request {
        amount: fields.non_negative("amount"),
        is_new_beneficiary: fields.boolean("is_new_beneficiary"),
        hour_of_day: fields.integer_up_to("hour_of_day", HOUR_MAX),
        num_past_transactions: fields.count("num_past_transactions", 0),
        avg_transaction_amount: fields.non_negative("avg_transaction_amount"),
        max_transaction_amount: fields.non_negative("max_transaction_amount"),
        num_transactions_to_beneficiary: fields.count("num_transactions_to_beneficiary", 0),
        is_new_device: fields.boolean("is_new_device"),
        geolocation_changed: fields.boolean("geolocation_changed"),
        beneficiary_saved_minutes: fields.optional_count("beneficiary_saved_minutes"),
    };
    fields.finish()?;
    let scored = app.models.snapshot().assess_risk(&request)?;
    Ok(Json(RiskJson::new(user_id, scored)))
}

/// The answer of `/ai/nudge`.
#[derive(Serialize)]
pub(super) struct NudgeJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    screen: String,
    model_version: String,
    result: NudgeResult,
}

#[derive(Serialize)]
struct NudgeResult {
    needs_help: bool,
    difficulty_score: f64,
    recommended_nudge_type: &'static str,
    reason: String,
}

/// Decides whether a person on a screen needs help.
pub(super) async fn assess_nudge(
    State(app): State<App>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<NudgeJson>, Error> {
    let user_id = fields.optional_text("user_id", ID_CHARS_MAX);
    let session_id = fields.optional_text("session_id", ID_CHARS_MAX);
    let request = nudge::Request {
        screen: fields.text("screen", LABEL_CHARS_MAX),
        num_validation_errors: fields.count("num_validation_errors", 0),
        time_on_screen_seconds: fields.count("time_on_screen_seconds", 0),
        num_back_navigations: fields.count("num_back_navigations", 0),
        steps_total: fields.count("steps_total", 1),
        current_step: fields.count("current_step", 1),
    };
    fields.finish()?;
    let Scored { assessment, version } = app.models.snapshot().assess_nudge(&request)?;
    let result = NudgeResult {
        needs_help: assessment.needs_help,
        difficulty_score: assessment.difficulty_score,
        recommended_nudge_type: assessment.nudge_type.as_str(),
        reason: assessment.reason,
    };
    Ok(Json(NudgeJson { user_id, session_id, screen: request.screen, model_version: version.to_string(), result }))
}

/// The answer of `/ai/accessibility`.
#[derive(Serialize)]
pub(super) struct AccessibilityJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    model_version: String,
    recommendation: Recommendation,
    confidence: f64,
    explanation: Vec<String>,
}

#[derive(Serialize)]
struct Recommendation {
    theme: &'static str,
    screen_reader_mode: bool,
    font_scale: f64,
    nudging_level: &'static str,
    voice_feedback: bool,
}

/// Recommends an accessibility profile. Neither the request nor the answer is logged or kept: they
/// may say something about a person's health.
pub(super) async fn assess_accessibility(
    State(app): State<App>,
    headers: HeaderMap,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<AccessibilityJson>, Error> {
    let user_id = fields.optional_text("user_id", ID_CHARS_MAX);
    let confident = read_app_confidence(&mut fields);
    let behaviour = ["avg_time_per_screen_seconds", "total_validation_errors", "requested_help_count"];
    // A questionnaire that uses the short name may leave behaviour out; the full name may not.
    let behaviour_observed = !confident.by_alias || behaviour.iter().all(|field| fields.has(field));
    let [time, errors, help] = behaviour.map(|field| match confident.by_alias {
        true => fields.optional_count(field).unwrap_or(0),
        false => fields.count(field, 0),
    });
    let request = accessibility::Request {
        can_read_small_text: fields.boolean("can_read_small_text"),
        uses_screen_reader: fields.boolean("uses_screen_reader"),
        feels_confident_with_apps: confident.value,
        age_range: fields.one_of("age_range", AgeRange::ALL, AgeRange::parse),
        avg_time_per_screen_seconds: time,
        total_validation_errors: errors,
        requested_help_count: help,
        behaviour_observed,
        language: preferred_language(&headers),
    };
    fields.finish()?;
    let Scored { assessment, version } = app.models.snapshot().assess_accessibility(&request)?;
    let profile = assessment.profile;
    Ok(Json(AccessibilityJson {
        user_id,
        model_version: version.to_string(),
        recommendation: Recommendation {
            theme: profile.theme.as_str(),
            screen_reader_mode: profile.screen_reader_mode,
            font_scale: profile.font_scale,
            nudging_level: profile.nudging_level.as_str(),
            voice_feedback: profile.voice_feedback,
        },
        confidence: assessment.confidence,
        explanation: assessment.explanation,
    }))
}

struct Confident {
    value: AppConfidence,
    by_alias: bool,
}

/// `feels_confident_with_apps`, or the short name that the specification's wizard uses.
fn read_app_confidence(fields: &mut Fields) -> Confident {
    const NAME: &str = "feels_confident_with_apps";
    const ALIAS: &str = "app_confidence";
    if !fields.has(ALIAS) {
        return Confident { value: fields.one_of(NAME, AppConfidence::ALL, AppConfidence::parse), by_alias: false };
    }
    let by_name = fields.optional_one_of(NAME, AppConfidence::ALL, AppConfidence::parse);
    let by_alias = fields.optional_one_of(ALIAS, AppConfidence::ALL, AppConfidence::parse);
    if let (Some(by_name), Some(by_alias)) = (by_name, by_alias)
        && by_name != by_alias
    {
        fields.refuse(ALIAS, "conflict", format!("differs from {NAME}"));
    }
    // Without either the request was refused above.
    Confident { value: by_alias.or(by_name).unwrap_or(AppConfidence::Medium), by_alias: !fields.has(NAME) }
}

/// The better-liked of Spanish and English in `Accept-Language`; Spanish when in doubt.
fn preferred_language(headers: &HeaderMap) -> Language {
    let header = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let weight_of = |language: &str| {
        let weights = header.split(',').filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let primary = parts.next()?.split('-').next()?.to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |text| text.parse().ok())?;
            (primary == language).then_some(weight)
        });
        weights.fold(0.0_f64, f64::max)
    };
    if weight_of("en") > weight_of("es") { Language::English } else { Language::Spanish }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_liked_language_wins_and_spanish_in_doubt() {
        for (header, language) in [
            ("", Language::Spanish),
            ("en", Language::English),
            ("en-US,en;q=0.9", Language::English),
            ("es-MX, en;q=0.8", Language::Spanish),
            ("en;q=0.9, es;q=0.5", Language::English),
            ("en, es", Language::Spanish),
            ("fr, de;q=0.5", Language::Spanish),
            ("en;q=0", Language::Spanish),
            ("en;q=abc", Language::Spanish),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, header.parse().unwrap());
            assert_eq!(preferred_language(&headers), language, "{header}");
        }
    }
}
