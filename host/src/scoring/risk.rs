//! The risk of a transfer: its request, its answer.

use serde::Serialize;

use crate::domain::risk;
use crate::http::fields::Fields;
use crate::scoring::Scored;

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
