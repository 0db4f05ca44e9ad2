//! The bodies of the assistance API: facts in, answers out. `caudal score` speaks them too, so that
//! a backtest and a request cannot mean different things.

use serde::Serialize;

use crate::domain::accessibility::{self, AgeRange, AppConfidence, Language};
use crate::domain::{nudge, risk};
use crate::http::fields::Fields;
use crate::http::ledger::analytics::LABEL_CHARS_MAX;
use crate::models::Scored;

/// Longest user or session identifier.
const ID_CHARS_MAX: usize = 255;

/// Last hour of a day.
const HOUR_MAX: u8 = 23;

/// Reads the facts about a transfer.
pub(crate) fn read_risk(fields: &mut Fields) -> risk::Request {
    risk::Request {
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
    }
}

/// Reads what was seen on a screen.
pub(crate) fn read_nudge(fields: &mut Fields) -> nudge::Request {
    nudge::Request {
        screen: fields.text("screen", LABEL_CHARS_MAX),
        num_validation_errors: fields.count("num_validation_errors", 0),
        time_on_screen_seconds: fields.count("time_on_screen_seconds", 0),
        num_back_navigations: fields.count("num_back_navigations", 0),
        steps_total: fields.count("steps_total", 1),
        current_step: fields.count("current_step", 1),
    }
}

/// Reads a person's answers and how the app went. `language` is that of the explanation.
pub(crate) fn read_accessibility(fields: &mut Fields, language: Language) -> accessibility::Request {
    let confident = read_app_confidence(fields);
    let behaviour = ["avg_time_per_screen_seconds", "total_validation_errors", "requested_help_count"];
    // A questionnaire that uses the short name may leave behaviour out; the full name may not.
    let behaviour_observed = !confident.by_alias || behaviour.iter().all(|field| fields.has(field));
    let [time, errors, help] = behaviour.map(|field| match confident.by_alias {
        true => fields.optional_count(field).unwrap_or(0),
        false => fields.count(field, 0),
    });
    accessibility::Request {
        can_read_small_text: fields.boolean("can_read_small_text"),
        uses_screen_reader: fields.boolean("uses_screen_reader"),
        feels_confident_with_apps: confident.value,
        age_range: fields.one_of("age_range", AgeRange::ALL, AgeRange::parse),
        avg_time_per_screen_seconds: time,
        total_validation_errors: errors,
        requested_help_count: help,
        behaviour_observed,
        language,
    }
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

/// Reads an identifier that is echoed: `user_id`, or `session_id` where there is one.
pub(crate) fn read_id(fields: &mut Fields, field: &str) -> Option<String> {
    fields.optional_text(field, ID_CHARS_MAX)
}

/// A body for `/ai/risk`.
#[derive(Serialize)]
pub(crate) struct RiskRequestJson {
    amount: f64,
    is_new_beneficiary: bool,
    hour_of_day: u8,
    num_past_transactions: u32,
    avg_transaction_amount: f64,
    max_transaction_amount: f64,
    num_transactions_to_beneficiary: u32,
    is_new_device: bool,
    geolocation_changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    beneficiary_saved_minutes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
}

impl RiskRequestJson {
    pub(crate) fn new(request: &risk::Request, user_id: Option<String>) -> Self {
        Self {
            amount: request.amount,
            is_new_beneficiary: request.is_new_beneficiary,
            hour_of_day: request.hour_of_day,
            num_past_transactions: request.num_past_transactions,
            avg_transaction_amount: request.avg_transaction_amount,
            max_transaction_amount: request.max_transaction_amount,
            num_transactions_to_beneficiary: request.num_transactions_to_beneficiary,
            is_new_device: request.is_new_device,
            geolocation_changed: request.geolocation_changed,
            beneficiary_saved_minutes: request.beneficiary_saved_minutes,
            user_id,
        }
    }
}

/// The answer of `/ai/risk`.
#[derive(Serialize)]
pub(crate) struct RiskJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    model_version: String,
    result: RiskResult,
    #[serde(skip)]
    level: risk::Level,
}

#[derive(Serialize)]
struct RiskResult {
    risk_level: &'static str,
    risk_score: f64,
    risk_factors: Vec<String>,
}

impl RiskJson {
    pub(crate) fn new(user_id: Option<String>, scored: Scored<risk::Assessment>) -> Self {
        let Scored { assessment, version } = scored;
        let level = assessment.level;
        let result = RiskResult {
            risk_level: assessment.level.as_str(),
            risk_score: assessment.score,
            risk_factors: assessment.factors,
        };
        Self { user_id, model_version: version.to_string(), result, level }
    }

    /// The level of the answer.
    pub(crate) fn level(&self) -> risk::Level {
        self.level
    }
}

/// The answer of `/ai/nudge`.
#[derive(Serialize)]
pub(crate) struct NudgeJson {
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

impl NudgeJson {
    pub(crate) fn new(
        [user_id, session_id]: [Option<String>; 2],
        screen: String,
        scored: Scored<nudge::Assessment>,
    ) -> Self {
        let Scored { assessment, version } = scored;
        let result = NudgeResult {
            needs_help: assessment.needs_help,
            difficulty_score: assessment.difficulty_score,
            recommended_nudge_type: assessment.nudge_type.as_str(),
            reason: assessment.reason,
        };
        Self { user_id, session_id, screen, model_version: version.to_string(), result }
    }
}

/// The answer of `/ai/accessibility`.
#[derive(Serialize)]
pub(crate) struct AccessibilityJson {
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

impl AccessibilityJson {
    pub(crate) fn new(user_id: Option<String>, scored: Scored<accessibility::Assessment>) -> Self {
        let Scored { assessment, version } = scored;
        let profile = assessment.profile;
        Self {
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
        }
    }
}
