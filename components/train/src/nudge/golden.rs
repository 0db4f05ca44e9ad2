//! Golden cases of a nudge model.

use caudal_model::nudge::{Request, Weights, assess};
use serde::{Deserialize, Serialize};

use super::generator::{Facts, generate};
use crate::data::code;
use crate::golden::{Case, bits};
use crate::random::Random;

/// Cases from the generator, and as many with independent facts.
const EACH: usize = 160;

/// The answer of a nudge model.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    pub needs_help: bool,
    /// Bits of the difficulty.
    pub difficulty_score: String,
    pub recommended_nudge_type: String,
    pub reason: String,
}

/// The answer to a request; `None` if it is out of range.
#[must_use]
pub fn expect(weights: &Weights<'_>, request: &Request<'_>) -> Option<Expect> {
    let verdict = assess(weights, request).ok()?;
    Some(Expect {
        needs_help: verdict.band.needs_help,
        difficulty_score: bits(verdict.score),
        recommended_nudge_type: code(verdict.band.nudge),
        reason: verdict.band.reason.to_owned(),
    })
}

/// A visit with independent facts.
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

pub(crate) fn cases(name: &str, weights: &Weights<'_>, random: &mut Random) -> Vec<Case<Facts, Expect>> {
    let mut facts: Vec<_> = generate(EACH, random).into_iter().map(|row| row.facts).collect();
    facts.extend((0..EACH).map(|_| any(random)));
    let case = |(index, facts): (usize, Facts)| {
        let expect = expect(weights, &facts.request())?;
        Some(Case { case: format!("{name}-{:03}", index + 1), request: facts, expect })
    };
    facts.into_iter().enumerate().filter_map(case).collect()
}
