//! Scores the risk of a transfer.

use std::borrow::Cow;

use crate::domain::accessibility::Language;
use crate::domain::fact::manifest::Manifest;
use crate::domain::fact::{Direction, FACTS, Fact, Measure};
use crate::domain::model::ModelKind;
use crate::domain::reason::FACTOR_CODES;
use crate::domain::risk::{self, Assessment, CutOffs, Level, Request};
use crate::schema::{Fields, Flat, Shape, answer, record};
use crate::scoring::kind::{Envelope, ID_CHARS_MAX, Kind, Scored, column, flag};
use crate::scoring::random::Random;
use crate::wasm;

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
    type World = wasm::Risk;

    const THRESHOLDS: &'static [(&'static str, f64)] =
        &[("medium_from", CutOffs::DEFAULT.medium_from), ("high_from", CutOffs::DEFAULT.high_from)];
    const COLUMNS: &'static [&'static str] =
        &["user_id", "model_version", "risk_level", "risk_score", "risk_factors", "model_reasons", "predictor"];
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

    fn columns(response: &RiskAnswer) -> Vec<Cow<'_, str>> {
        vec![
            column(response.user_id.as_deref()),
            response.model_version.as_str().into(),
            response.level().as_str().into(),
            response.result.risk_score.to_string().into(),
            response.result.risk_factors.join(" ").into(),
            response.result.model_reasons.as_deref().unwrap_or_default().join(" ").into(),
            response.predictor.map(|it| it.to_string()).unwrap_or_default().into(),
        ]
    }

    fn judged(assessment: Assessment, cut_offs: CutOffs) -> Assessment {
        Assessment { level: cut_offs.level(assessment.score), ..assessment }
    }

    fn class(assessment: &Assessment) -> usize {
        assessment.level as usize
    }

    fn score(assessment: &Assessment) -> f64 {
        assessment.score
    }

    fn features(request: &Request) -> Vec<(&'static str, f64)> {
        FACTS.iter().filter_map(|fact| Some((fact.name, fact.given(request)?))).collect()
    }

    fn monitored() -> Vec<&'static str> {
        FACTS.iter().map(|fact| fact.name).collect()
    }

    fn random_request(random: &mut Random) -> Option<Request> {
        let request = FACTS.iter().fold(Request::default(), |request, fact| {
            let is_known = fact.is_always_known || random.flag();
            fact.with(&request, is_known.then(|| random_value(fact, random)))
        });
        let max_transaction_amount = request.max_transaction_amount.max(request.avg_transaction_amount);
        Some(Request { max_transaction_amount, ..request })
    }

    fn worsened(request: &Request, manifest: Option<&Manifest>, random: &mut Random) -> Vec<(String, Request)> {
        let mut worse = |fact: &'static Fact| {
            let value = fact.given(request)?;
            let value = match (fact.direction, fact.measure) {
                (Direction::Free, _) => return None,
                (Direction::Rises, Measure::Flag) => 1.0,
                (Direction::Rises, Measure::Money) => value * (1.0 + f64::from(random.below(3000)) / 1000.0),
                (Direction::Rises, _) => value + f64::from(random.below(10)),
                (Direction::Falls, _) => (value * f64::from(random.below(1000)) / 1000.0).floor(),
            };
            Some((format!("{} = {value}", fact.name), fact.with(request, Some(value))))
        };
        let mut all: Vec<_> = Manifest::facts_of(manifest).into_iter().filter_map(&mut worse).collect();
        if manifest.is_none() {
            let unknown = Request { beneficiary_saved_minutes: None, ..request.clone() };
            all.push(("an unknown age of the beneficiary".to_owned(), unknown));
        }
        all
    }

    fn shown(request: &Request, manifest: Option<&Manifest>) -> String {
        let facts = Manifest::facts_of(manifest).into_iter();
        let known = facts.filter_map(|fact| Some(format!("{} = {}", fact.name, fact.given(request)?)));
        known.collect::<Vec<_>>().join(", ")
    }
}

/// A value in the unit of the HTTP API. A tenth of the amounts are 0, as where there is no history.
fn random_value(fact: &Fact, random: &mut Random) -> f64 {
    match fact.measure {
        Measure::Money if random.below(10) == 0 => 0.0,
        Measure::Money => random.money(),
        // Sparse beyond what is usual.
        Measure::Count if random.flag() => random.below(4).into(),
        Measure::Count => random.below(60).into(),
        Measure::Minutes => random.below(2000).into(),
        Measure::Hour => random.below(24).into(),
        Measure::Flag => flag(random.flag()),
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
        predictor: Option<f64> = None,
    }
}

answer! {
    /// The verdict on a transfer.
    struct RiskResult {
        /// `low`: proceed. `medium`: explain and ask for confirmation. `high`: ask for an explicit acknowledgment.
        risk_level: risk::Level { component: "level", example: "\"medium\"" },
        /// By default, `low` below 0.25 and `high` from 0.75; a deployment may have other cut-offs.
        risk_score: f64 { component: "score", at_least: 0.0, at_most: 1.0, example: "0.41" },
        /// Facts that make the transfer unusual. Empty where none is, although a model may see a risk all the same.
        risk_factors: Vec<String> {
            component: "factors",
            items: &Shape::OneOf { texts: &FACTOR_CODES, names: &FACTOR_CODES },
            example: "[\"NEW_BENEFICIARY\"]"
        },
        /// The model's own reasons; absent if it has none.
        model_reasons: Option<Vec<&'static str>> { example: "[\"MISSING_FACT\"]" },
    }
}

impl RiskAnswer {
    pub fn new(user_id: Option<String>, scored: Scored<risk::Assessment>) -> Self {
        let Scored { assessment: risk::Assessment { level, score, predictor, factors, reasons }, version } = scored;
        let result = RiskResult {
            risk_level: level,
            risk_score: score,
            risk_factors: factors,
            model_reasons: Some(reasons).filter(|reasons| !reasons.is_empty()),
        };
        Self { user_id, model_version: version.into(), result, predictor }
    }

    pub fn level(&self) -> risk::Level {
        self.result.risk_level
    }
}
