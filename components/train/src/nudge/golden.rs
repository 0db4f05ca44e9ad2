//! Golden cases of a nudge model.

use caudal_model::nudge::{Nudge, Request, Weights, assess};
use serde::{Deserialize, Serialize};

use super::generator::{Row, generate};
use crate::golden::{Case, bits};
use crate::random::Random;

/// Cases as visits happen, and as they do not.
const EACH: usize = 160;

/// The body of `POST /ai/nudge`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the HTTP API")]
pub struct Facts {
    pub screen: String,
    pub num_validation_errors: u32,
    pub time_on_screen_seconds: u32,
    pub num_back_navigations: u32,
    pub steps_total: u32,
    pub current_step: u32,
}

impl Facts {
    /// The model's request.
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        Request {
            screen: &self.screen,
            num_validation_errors: self.num_validation_errors,
            time_on_screen_seconds: self.time_on_screen_seconds,
            num_back_navigations: self.num_back_navigations,
            steps_total: self.steps_total,
            current_step: self.current_step,
        }
    }
}

impl From<&Row> for Facts {
    fn from(row: &Row) -> Self {
        Self {
            screen: row.screen.clone(),
            num_validation_errors: row.num_validation_errors,
            time_on_screen_seconds: row.time_on_screen_seconds,
            num_back_navigations: row.num_back_navigations,
            steps_total: row.steps_total,
            current_step: row.current_step,
        }
    }
}

/// What a nudge model answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Above 0.40.
    pub needs_help: bool,
    /// Bits of the difficulty.
    pub difficulty_score: String,
    /// Code of the nudge.
    pub recommended_nudge_type: String,
    /// Code of the reason.
    pub reason: String,
}

/// What this model answers to a request in range.
#[must_use]
pub fn expect(weights: &Weights<'_>, request: &Request<'_>) -> Option<Expect> {
    let verdict = assess(weights, request).ok()?;
    let nudge = match verdict.band.nudge {
        Nudge::Assist => "assist",
        Nudge::Info => "info",
        Nudge::Warning => "warning",
    };
    Some(Expect {
        needs_help: verdict.band.needs_help,
        difficulty_score: bits(verdict.score),
        recommended_nudge_type: nudge.to_owned(),
        reason: verdict.band.reason.to_owned(),
    })
}

/// A visit of facts that have nothing to do with each other.
fn any(random: &mut Random) -> Facts {
    let mut count = |usual: u64| match random.below(8) {
        0 => u32::MAX - random.below(2) as u32,
        1..4 => random.below(6) as u32,
        _ => random.below(usual) as u32,
    };
    let (errors, seconds, backs) = (count(12), count(400), count(12));
    let (steps_total, current_step) = (count(8).max(1), count(10).max(1));
    let screen = random.pick(&["login", "LOGIN", "amount_confirm", "nueva-beneficiary", "Amount", "año nuevo", "x"]);
    Facts {
        screen: screen.to_owned(),
        num_validation_errors: errors,
        time_on_screen_seconds: seconds,
        num_back_navigations: backs,
        steps_total,
        current_step,
    }
}

/// The cases of a model.
#[must_use]
pub fn cases(name: &str, weights: &Weights<'_>, random: &mut Random) -> Vec<Case<Facts, Expect>> {
    let mut facts: Vec<_> = generate(EACH, random).iter().map(Facts::from).collect();
    facts.extend((0..EACH).map(|_| any(random)));
    let case = |(index, facts): (usize, Facts)| {
        let expect = expect(weights, &facts.request())?;
        Some(Case { case: format!("{name}-{:03}", index + 1), request: facts, expect })
    };
    facts.into_iter().enumerate().filter_map(case).collect()
}
