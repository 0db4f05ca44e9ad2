//! Scores the risk of a transfer.

use serde::Serialize;

use crate::domain::accessibility::Language;
use crate::domain::model::ModelKind;
use crate::domain::risk::{self, Assessment, Level, Request};
use crate::http::fields::Fields;
use crate::scoring::kind::{Envelope, Kind, Scored, flag};
use crate::scoring::random::Random;
use crate::wasm::v1;

/// Last hour of a day.
const HOUR_MAX: u8 = 23;

/// How risky a transfer is.
pub struct Risk;

impl Kind for Risk {
    const KIND: ModelKind = ModelKind::Risk;

    type Request = Request;
    type Assessment = Assessment;
    type Response = RiskJson;
    type World = v1::Risk;

    const COLUMNS: &'static [&'static str] = &["user_id", "model_version", "risk_level", "risk_score", "risk_factors"];
    const CLASSES: &'static [&'static str] = Level::TEXTS;
    const CASES: &'static str = include_str!("../../../tests/golden/hand/risk.ndjson");

    fn read(fields: &mut Fields, _: Language) -> Request {
        read(fields)
    }

    fn response(envelope: Envelope<Request>, scored: Scored<Assessment>) -> RiskJson {
        RiskJson::new(envelope.user_id, scored)
    }

    fn logged_request(envelope: &Envelope<Request>) -> Option<serde_json::Result<String>> {
        Some(serde_json::to_string(&RiskRequestJson::new(&envelope.request, envelope.user_id.clone())))
    }

    fn columns(response: &RiskJson) -> Vec<String> {
        vec![
            response.user_id.clone().unwrap_or_default(),
            response.model_version.clone(),
            response.level.to_string(),
            response.result.risk_score.to_string(),
            response.result.risk_factors.join(" "),
        ]
    }

    fn class(assessment: &Assessment) -> usize {
        assessment.level as usize
    }

    fn score(assessment: &Assessment) -> f64 {
        assessment.score
    }

    fn features(request: &Request) -> Vec<(&'static str, f64)> {
        vec![
            ("amount", request.amount),
            ("is_new_beneficiary", flag(request.is_new_beneficiary)),
            ("hour_of_day", f64::from(request.hour_of_day)),
            ("num_past_transactions", f64::from(request.num_past_transactions)),
            ("avg_transaction_amount", request.avg_transaction_amount),
            ("max_transaction_amount", request.max_transaction_amount),
            ("num_transactions_to_beneficiary", f64::from(request.num_transactions_to_beneficiary)),
            ("is_new_device", flag(request.is_new_device)),
            ("geolocation_changed", flag(request.geolocation_changed)),
        ]
    }

    fn random_request(random: &mut Random) -> Option<Request> {
        let avg_transaction_amount = if random.below(10) == 0 { 0.0 } else { random.money() };
        Some(Request {
            amount: random.money(),
            is_new_beneficiary: random.flag(),
            hour_of_day: u8::try_from(random.below(24)).unwrap_or_default(),
            num_past_transactions: random.below(60),
            avg_transaction_amount,
            max_transaction_amount: avg_transaction_amount * f64::from(1 + random.below(5)),
            num_transactions_to_beneficiary: random.below(10),
            is_new_device: random.flag(),
            geolocation_changed: random.flag(),
            beneficiary_saved_minutes: random.flag().then(|| random.below(2000)),
        })
    }

    fn worsened(request: &Request, random: &mut Random) -> Vec<(&'static str, Request)> {
        let request = request.clone();
        let amount = request.amount * (1.0 + f64::from(random.below(3000)) / 1000.0);
        let fewer = random.below(request.num_transactions_to_beneficiary + 1);
        vec![
            ("a larger amount", Request { amount, ..request.clone() }),
            ("a new beneficiary", Request { is_new_beneficiary: true, ..request.clone() }),
            ("a new device", Request { is_new_device: true, ..request.clone() }),
            ("an unusual location", Request { geolocation_changed: true, ..request.clone() }),
            (
                "fewer transfers to the beneficiary",
                Request { num_transactions_to_beneficiary: fewer, ..request.clone() },
            ),
            ("a beneficiary of unknown age", Request { beneficiary_saved_minutes: None, ..request }),
        ]
    }
}

fn read(fields: &mut Fields) -> risk::Request {
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

/// The body of a request to `/ai/risk`.
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
pub struct RiskJson {
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
    fn new(user_id: Option<String>, scored: Scored<risk::Assessment>) -> Self {
        let Scored { assessment, version } = scored;
        let level = assessment.level;
        let result = RiskResult {
            risk_level: assessment.level.as_str(),
            risk_score: assessment.score,
            risk_factors: assessment.factors,
        };
        Self { user_id, model_version: version.to_string(), result, level }
    }

    pub(crate) fn level(&self) -> risk::Level {
        self.level
    }
}
