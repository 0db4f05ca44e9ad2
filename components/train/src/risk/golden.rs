//! Golden cases of a risk model.

use caudal_model::risk::{Request, Weights, assess};
use serde::{Deserialize, Serialize};

use super::generator::generate;
use super::monotone::{Direction, pair};
use crate::data::code;
use crate::golden::{Case, bits};
use crate::random::Random;

/// Cases from the generator.
const USUAL: usize = 160;
/// Pairs for each direction, at thresholds and with extreme facts.
const PAIRS: usize = 10;

/// The answer of a risk model.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    pub risk_level: String,
    /// Bits of the score.
    pub risk_score: String,
    pub risk_factors: Vec<String>,
    /// Bits of the linear predictor.
    pub predictor: String,
}

/// The answer to a request; `None` if it is out of range.
#[must_use]
pub fn expect(weights: &Weights<'_>, request: &Request) -> Option<Expect> {
    let verdict = assess(weights, request).ok()?;
    Some(Expect {
        risk_level: code(verdict.level),
        risk_score: bits(verdict.score),
        risk_factors: verdict.factors.iter().map(|&factor| factor.to_owned()).collect(),
        predictor: bits(verdict.predictor()),
    })
}

pub(crate) fn cases(name: &str, weights: &Weights<'_>, random: &mut Random) -> Vec<Case<Request, Expect>> {
    let mut requests: Vec<_> = generate(USUAL, random).iter().map(|row| row.facts).collect();
    for direction in Direction::ALL {
        for _ in 0..PAIRS {
            let (safer, riskier) = pair(direction, weights, random);
            requests.extend([safer, riskier]);
        }
    }
    let case = |(index, request): (usize, Request)| {
        let expect = expect(weights, &request)?;
        Some(Case { case: format!("{name}-{:03}", index + 1), request, expect })
    };
    requests.into_iter().enumerate().filter_map(case).collect()
}
