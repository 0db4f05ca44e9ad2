//! Scores the risk of a transfer.

use std::borrow::Cow;

use crate::domain::accessibility::Language;
use crate::domain::model::ModelKind;
use crate::domain::risk::{self, Assessment, FACTOR_CODES, Level, Request};
use crate::schema::{Fields, Flat, Shape, answer, record};
use crate::scoring::kind::{Envelope, ID_CHARS_MAX, Kind, Scored, column, flag};
use crate::scoring::random::Random;
use crate::wasm::v1;

/// How risky a transfer is.
pub struct Risk;

impl Kind for Risk {
    const KIND: ModelKind = ModelKind::Risk;

    const PATH: &'static str = "/ai/risk";
    const OPERATION: (&'static str, &'static str) = ("assess_risk", "Score a transfer");

    type Body = RiskRequest;
    type Request = Request;
    type Assessment = Assessment;
    type Response = RiskAnswer;
    type World = v1::Risk;

    const THRESHOLDS: &'static [(&'static str, f64)] =
        &[("medium_from", risk::MEDIUM_FROM), ("high_from", risk::HIGH_FROM)];
    const COLUMNS: &'static [&'static str] = &["user_id", "model_version", "risk_level", "risk_score", "risk_factors"];
    const CLASSES: &'static [&'static str] = Level::TEXTS;
    const CASES: &'static str = include_str!("../../../../tests/golden/hand/risk.ndjson");
    const REQUIRED: &'static [&'static str] = &["risk_factors", "risk_level"];

    fn read(fields: &mut Fields, _: Language) -> Envelope<Request> {
        let RiskRequest { user_id, facts: Flat(request) } = fields.read();
        Envelope { request, user_id, session_id: None }
    }

    fn response(envelope: Envelope<Request>, scored: Scored<Assessment>) -> RiskAnswer {
        RiskAnswer::new(envelope.user_id, scored)
    }

    fn logged_request(envelope: &Envelope<Request>) -> Option<serde_json::Result<String>> {
        Some(serde_json::to_string(&RiskRequest::new(&envelope.request, envelope.user_id.clone())))
    }

    fn columns(response: &RiskAnswer) -> Vec<Cow<'_, str>> {
        vec![
            column(response.user_id.as_deref()),
            response.model_version.as_str().into(),
            response.level().as_str().into(),
            response.result.risk_score.to_string().into(),
            response.result.risk_factors.join(" ").into(),
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

record! {
    /// A transfer to score.
    pub struct RiskRequest {
        /// Echoed.
        user_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"ana\"" },
        facts: Flat<risk::Request>,
    }
}

impl RiskRequest {
    pub fn new(request: &risk::Request, user_id: Option<String>) -> Self {
        Self { user_id, facts: Flat(request.clone()) }
    }
}

answer! {
    /// How risky a transfer is.
    pub struct RiskAnswer {
        /// As sent; absent if it was not.
        user_id: Option<String> { example: "\"ana\"" },
        /// Version of the model that answered.
        model_version: String { example: "\"risk-2.0.0+8efe6cf7\"" },
        result: RiskResult,
    }
}

answer! {
    /// The verdict on a transfer.
    struct RiskResult {
        /// `low`: proceed. `medium`: explain and ask for confirmation. `high`: ask for an explicit acknowledgment.
        risk_level: risk::Level { component: "level", example: "\"medium\"" },
        /// `low` below 0.25, `high` from 0.75.
        risk_score: f64 { component: "score", at_least: 0.0, at_most: 1.0, example: "0.41" },
        /// Reasons for the risk; empty only if the level is `low`.
        risk_factors: Vec<String> {
            component: "factors",
            items: &Shape::OneOf { texts: &FACTOR_CODES, names: &FACTOR_CODES },
            example: "[\"NEW_BENEFICIARY\"]"
        },
    }
}

impl RiskAnswer {
    pub(crate) fn new(user_id: Option<String>, scored: Scored<risk::Assessment>) -> Self {
        let Scored { assessment: risk::Assessment { level, score, factors, .. }, version } = scored;
        let result = RiskResult { risk_level: level, risk_score: score, risk_factors: factors };
        Self { user_id, model_version: version.into(), result }
    }

    pub fn level(&self) -> risk::Level {
        self.result.risk_level
    }
}
