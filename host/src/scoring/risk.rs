//! The risk of a transfer: its request, its answer.

use crate::domain::risk::{self, FACTOR_CODES};
use crate::schema::{Fields, Flat, Shape, answer, record};
use crate::scoring::Scored;
use crate::scoring::kind::ID_CHARS_MAX;

/// Reads the facts about a transfer.
pub(crate) fn read_risk(fields: &mut Fields) -> risk::Request {
    fields.read()
}

record! {
    /// A transfer to score.
    pub(crate) struct RiskRequest {
        /// Echoed.
        user_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"ana\"" },
        facts: Flat<risk::Request>,
    }
}

impl RiskRequest {
    pub(crate) fn new(request: &risk::Request, user_id: Option<String>) -> Self {
        Self { user_id, facts: Flat(request.clone()) }
    }
}

answer! {
    /// How risky a transfer is.
    pub(crate) struct RiskAnswer {
        /// As it was sent; absent when it was not.
        user_id: Option<String> { example: "\"ana\"" },
        /// Which model answered.
        model_version: String { example: "\"risk-2.0.0+8efe6cf7\"" },
        result: RiskResult,
    }
}

answer! {
    /// The verdict on a transfer.
    pub(crate) struct RiskResult {
        /// `low`: go on. `medium`: explain and ask for confirmation. `high`: ask for an explicit acknowledgment.
        risk_level: risk::Level { component: "level", example: "\"medium\"" },
        /// `low` below 0.25, `high` from 0.75.
        risk_score: f64 { component: "score", at_least: 0.0, at_most: 1.0, example: "0.41" },
        /// What speaks against the transfer; not empty unless the level is `low`.
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
        Self { user_id, model_version: version.to_string(), result }
    }

    /// The level of the answer.
    pub(crate) fn level(&self) -> risk::Level {
        self.result.risk_level
    }
}
