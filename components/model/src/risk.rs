//! Scores one transfer before it is sent: an ordered logit over features of the facts.
//!
//! The linear predictor is `base` plus the contributions, summed in list order, so anyone can repeat
//! the sum and get the same bits. Severity is ordered (low, medium, high) with
//! `P(severity <= j) = sigmoid(cutpoint_j - predictor)`; the score is the expected severity scaled to
//! 0 to 1, and the level depends on the score alone.
//!
//! A score advises a person. Rejecting transfers is up to [`crate::rules`].

mod factors;
pub mod features;
pub mod weights;

use alloc::vec::Vec;

use crate::Invalid;
use crate::curve::each_sigmoid;
pub use weights::Weights;

/// Lowest score of `medium`: the expected severity rounds to the middle level.
pub const MEDIUM_FROM: f64 = 0.25;
/// Lowest score of `high`: the expected severity rounds to the top level.
pub const HIGH_FROM: f64 = 0.75;

/// Scores up to this one are kept even if no factor explains them.
const UNEXPLAINED_KEPT: f64 = 0.2;
/// Width of the interval into which higher unexplained scores are compressed. It ends at 0.2499, below
/// [`MEDIUM_FROM`]: a warning without a reason is worse than none.
const UNEXPLAINED_RANGE: f64 = 0.0499;

const HOUR_MAX: u8 = 23;

/// Facts about a transfer and its sender's history. Amounts are in MXN, finite and >= 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    pub amount: f64,
    /// The sender has never completed a transfer to this beneficiary.
    pub is_new_beneficiary: bool,
    /// The sender's local hour, 0 to 23.
    pub hour_of_day: u8,
    /// Transfers that the sender has completed.
    pub num_past_transactions: u32,
    /// Average amount of the completed transfers; 0 if there are none.
    pub avg_transaction_amount: f64,
    /// Largest amount of the completed transfers; 0 if there are none. Raised to the average if it is
    /// below.
    pub max_transaction_amount: f64,
    /// Transfers that the sender has completed to this beneficiary.
    pub num_transactions_to_beneficiary: u32,
    pub is_new_device: bool,
    pub geolocation_changed: bool,
    /// Minutes since the beneficiary was saved. Can only lower the score; no effect if absent.
    pub beneficiary_saved_minutes: Option<u32>,
}

impl Request {
    /// Checks the ranges, in the order of the fields.
    ///
    /// # Errors
    /// See [`assess`].
    pub fn check(&self) -> Result<(), Invalid> {
        const MONEY: &str = "Money has to be a finite number of MXN, zero or more.";
        let is_money = |value: f64| value.is_finite() && value >= 0.0;
        if !is_money(self.amount) {
            return Err(Invalid::out_of_range("amount", MONEY));
        }
        if self.hour_of_day > HOUR_MAX {
            return Err(Invalid::out_of_range("hour_of_day", "The hour has to be 0 to 23."));
        }
        if !is_money(self.avg_transaction_amount) {
            return Err(Invalid::out_of_range("avg_transaction_amount", MONEY));
        }
        if !is_money(self.max_transaction_amount) {
            return Err(Invalid::out_of_range("max_transaction_amount", MONEY));
        }
        Ok(())
    }
}

/// Risk levels in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Level {
    /// Score below 0.25: proceed.
    Low,
    /// Score of at least 0.25 and below 0.75: explain and ask for confirmation.
    Medium,
    /// Score of at least 0.75: ask for an explicit acknowledgment.
    High,
}

impl Assessment {
    /// The linear predictor: the base plus the contributions.
    #[must_use]
    pub fn predictor(&self) -> f64 {
        // In list order: another order would give other bits.
        self.contributions.iter().fold(self.base, |sum, contribution| sum + contribution.weight)
    }
}

impl Level {
    /// The level of a score in 0 to 1.
    #[must_use]
    pub fn of(score: f64) -> Self {
        if score >= HIGH_FROM {
            Self::High
        } else if score >= MEDIUM_FROM {
            Self::Medium
        } else {
            Self::Low
        }
    }
}

/// What one feature adds to the linear predictor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// Name of the feature, one of [`features::FEATURES`].
    pub feature: &'static str,
    /// Coefficient times value; finite.
    pub weight: f64,
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// Depends on the score alone.
    pub level: Level,
    /// Expected severity, 0 to 1.
    pub score: f64,
    /// The linear predictor before any feature.
    pub base: f64,
    /// One for each feature of the model, in the order of [`features::FEATURES`].
    pub contributions: Vec<Contribution>,
    /// Codes of the factors that apply, in the order of the specification.
    pub factors: Vec<&'static str>,
}

/// Scores one request.
///
/// # Errors
/// [`Invalid`] if an amount is negative, infinite or NaN, or the hour is above 23.
pub fn assess(weights: &Weights<'_>, request: &Request) -> Result<Assessment, Invalid> {
    request.check()?;
    let contributions = weights.contributions(&features::derive(request));
    let factors = factors::fired(request);
    let mut verdict = Assessment { level: Level::Low, score: 0.0, base: weights.base, contributions, factors };
    let severity = expected_severity(weights, verdict.predictor());
    verdict.score = if verdict.factors.is_empty() { unexplained(severity) } else { severity };
    verdict.level = Level::of(verdict.score);
    Ok(verdict)
}

/// P(at least medium) and P(high) at a linear predictor.
#[must_use]
pub fn upper_tails(weights: &Weights<'_>, predictor: f64) -> [f64; 2] {
    each_sigmoid(weights.cutpoints.map(|cutpoint| predictor - cutpoint))
}

/// `(P(medium) + 2 P(high)) / 2`, which is the mean of P(at least medium) and P(high).
///
/// Adding the two upper tails, rather than differences of lower ones, preserves order in every step, so
/// the score never falls when the predictor rises; it also retains the digits of small scores.
fn expected_severity(weights: &Weights<'_>, predictor: f64) -> f64 {
    let [medium, high] = upper_tails(weights, predictor);
    (medium + high) / 2.0
}

/// Maps the score of a transfer without factors into [0, 0.25). Preserves order and never raises a score.
fn unexplained(score: f64) -> f64 {
    if score <= UNEXPLAINED_KEPT {
        score
    } else {
        UNEXPLAINED_KEPT + UNEXPLAINED_RANGE * ((score - UNEXPLAINED_KEPT) / (1.0 - UNEXPLAINED_KEPT))
    }
}
