//! Golden cases of a risk model.

use caudal_model::risk::{Request, Weights, assess};
use serde::{Deserialize, Serialize};

use super::generator::generate;
use super::monotone::{Direction, pair};
use super::rows::{Facts, LEVELS};
use crate::golden::{Case, bits};
use crate::random::Random;

/// Cases as transfers happen.
const USUAL: usize = 160;
/// Pairs for each direction, at edges and of extreme facts.
const PAIRS: usize = 10;

/// What a risk model answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Code of the level.
    pub risk_level: String,
    /// Bits of the score.
    pub risk_score: String,
    /// Codes in the specification's order.
    pub risk_factors: Vec<String>,
    /// Bits of the linear predictor: base plus contributions, in order.
    pub predictor: String,
}

/// What this model answers to a request in range.
#[must_use]
pub fn expect(weights: &Weights<'_>, request: &Request) -> Option<Expect> {
    let verdict = assess(weights, request).ok()?;
    Some(Expect {
        risk_level: LEVELS[verdict.level as usize].to_owned(),
        risk_score: bits(verdict.score),
        risk_factors: verdict.factors.iter().map(|&factor| factor.to_owned()).collect(),
        predictor: bits(verdict.predictor()),
    })
}

/// The cases of a model.
#[must_use]
pub fn cases(name: &str, weights: &Weights<'_>, random: &mut Random) -> Vec<Case<Facts, Expect>> {
    let mut requests: Vec<_> = generate(USUAL, random).iter().map(|row| row.request).collect();
    for direction in Direction::ALL {
        for _ in 0..PAIRS {
            let (safer, riskier) = pair(direction, weights, random);
            requests.extend([safer, riskier]);
        }
    }
    let case = |(index, request): (usize, &Request)| {
        let expect = expect(weights, request)?;
        Some(Case { case: format!("{name}-{:03}", index + 1), request: Facts::from(request), expect })
    };
    requests.iter().enumerate().filter_map(case).collect()
}
