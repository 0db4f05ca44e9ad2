//! Requests and verdicts of transfer rules as JSON, for the decision log.

use serde::{Deserialize, Serialize};

use crate::domain::model::ModelVersion;
use crate::domain::money::Money;
use crate::domain::risk::Level;
use crate::domain::rules::{Facts, Verdict, Violation};

/// The facts about a transfer. Money is in centavos.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RulesRequest {
    amount: i64,
    available: i64,
    day_total: i64,
    per_transfer_limit: Option<i64>,
    per_day_limit: Option<i64>,
    beneficiary_age_seconds: u64,
    cooling_seconds: u64,
    same_account: bool,
    local_hour: u8,
    risk_level: Option<String>,
    acknowledged: bool,
}

impl From<&Facts> for RulesRequest {
    fn from(facts: &Facts) -> Self {
        Self {
            amount: facts.amount.minor(),
            available: facts.available.minor(),
            day_total: facts.day_total.minor(),
            per_transfer_limit: facts.per_transfer_limit.map(Money::minor),
            per_day_limit: facts.per_day_limit.map(Money::minor),
            beneficiary_age_seconds: facts.beneficiary_age_seconds,
            cooling_seconds: facts.cooling_seconds,
            same_account: facts.same_account,
            local_hour: facts.local_hour,
            risk_level: facts.risk_level.map(|level| level.to_string()),
            acknowledged: facts.acknowledged,
        }
    }
}

impl From<&RulesRequest> for Facts {
    fn from(request: &RulesRequest) -> Self {
        Self {
            amount: Money::from_minor(request.amount),
            available: Money::from_minor(request.available),
            day_total: Money::from_minor(request.day_total),
            per_transfer_limit: request.per_transfer_limit.map(Money::from_minor),
            per_day_limit: request.per_day_limit.map(Money::from_minor),
            beneficiary_age_seconds: request.beneficiary_age_seconds,
            cooling_seconds: request.cooling_seconds,
            same_account: request.same_account,
            local_hour: request.local_hour,
            risk_level: request.risk_level.as_deref().and_then(Level::parse),
            acknowledged: request.acknowledged,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RulesResponse {
    model_version: String,
    verdict: &'static str,
    violations: Vec<ViolationJson>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ViolationJson {
    code: String,
    detail: String,
}

impl RulesResponse {
    pub(crate) fn new(version: &ModelVersion, verdict: &Verdict) -> Self {
        let violation = |it: &Violation| ViolationJson { code: it.code.clone(), detail: it.detail.clone() };
        let (verdict, violations) = match verdict {
            Verdict::Accepted => ("accepted", Vec::new()),
            Verdict::Rejected(violations) => ("rejected", violations.iter().map(violation).collect()),
        };
        Self { model_version: version.to_string(), verdict, violations }
    }
}
