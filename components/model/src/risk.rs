//! Scores one transfer before it is sent: an ordered logit over features of the facts.
//!
//! The linear predictor is `base` plus the contributions, added one after another in list order, so
//! a reader can add them up again and get the same bits. Severity is ordered (low, medium, high)
//! and `P(severity <= j) = sigmoid(cutpoint_j - predictor)`; the score is the expected severity,
//! halved into 0 to 1, and the level is a function of the score alone.
//!
//! Not for transfers that are refused: that is [`crate::rules`]. A score advises a person.

mod factors;
pub mod features;
pub mod weights;

use alloc::vec::Vec;

use crate::Invalid;
use crate::curve::sigmoid;
pub use weights::Weights;

/// From this score on a transfer is `medium`: expected severity rounds up to the middle.
pub const MEDIUM_FROM: f64 = 0.25;
/// From this score on a transfer is `high`: expected severity rounds up to the top.
pub const HIGH_FROM: f64 = 0.75;

/// Up to here a score that no factor explains is left as it is.
const UNEXPLAINED_KEPT: f64 = 0.2;
/// Room for the rest of such scores. It ends at 0.2499, under [`MEDIUM_FROM`]: a warning without a
/// reason to show is worse than none.
const UNEXPLAINED_ROOM: f64 = 0.0499;

/// Last hour of the day.
const HOUR_MAX: u8 = 23;

/// Facts about a transfer and its sender's history. Money is in MXN: finite and >= 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Amount of the transfer, MXN.
    pub amount: f64,
    /// The recipient never received a transfer from this user.
    pub is_new_beneficiary: bool,
    /// The sender's local hour, 0 to 23.
    pub hour_of_day: u8,
    /// Transfers that the user completed before.
    pub num_past_transactions: u32,
    /// Average of those, MXN; 0 when there are none.
    pub avg_transaction_amount: f64,
    /// Largest of those, MXN; 0 when there are none. Below the average it counts as the average.
    pub max_transaction_amount: f64,
    /// Transfers that the user completed to this recipient.
    pub num_transactions_to_beneficiary: u32,
    /// The device is new or not recognised.
    pub is_new_device: bool,
    /// The location differs from the usual one.
    pub geolocation_changed: bool,
    /// Minutes since the beneficiary was saved. Only lowers the score; absent has no effect.
    pub beneficiary_saved_minutes: Option<u32>,
}

impl Request {
    /// Whether the facts are in range, in the order of the fields.
    ///
    /// # Errors
    /// As [`assess`].
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

/// Risk levels in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Score below 0.25: go on.
    Low,
    /// Score from 0.25 and below 0.75: explain and ask for confirmation.
    Medium,
    /// Score from 0.75: ask for an explicit acknowledgment.
    High,
}

impl Assessment {
    /// The linear predictor: the base and the contributions, one after another.
    #[must_use]
    pub fn predictor(&self) -> f64 {
        // Plain sequential addition: a different order would give other bits.
        self.contributions.iter().fold(self.base, |sum, contribution| sum + contribution.weight)
    }
}

impl Level {
    /// The level of a score of 0 to 1.
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

/// What one feature added to the linear predictor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// Name of the feature, one of [`features::FEATURES`].
    pub feature: &'static str,
    /// Coefficient times value, signed; finite.
    pub weight: f64,
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// A function of the score alone.
    pub level: Level,
    /// Expected severity, 0 to 1.
    pub score: f64,
    /// The linear predictor before any feature.
    pub base: f64,
    /// One for each feature that the model uses, in the order of [`features::FEATURES`].
    pub contributions: Vec<Contribution>,
    /// Fired factor codes in the order of the specification.
    pub factors: Vec<&'static str>,
}

/// Scores one request.
///
/// # Errors
/// [`Invalid`] for money that is negative, infinite or not a number, and for an hour above 23.
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
    weights.cutpoints.map(|cutpoint| sigmoid(predictor - cutpoint))
}

/// `(P(medium) + 2 P(high)) / 2`, which is the mean of P(at least medium) and P(high).
///
/// Adding the two upper tails instead of differences of lower ones keeps every step in order, so
/// the score never falls where the predictor rises, and small scores keep their digits.
fn expected_severity(weights: &Weights<'_>, predictor: f64) -> f64 {
    let [medium, high] = upper_tails(weights, predictor);
    (medium + high) / 2.0
}

/// Maps the score of a transfer without factors into [0, 0.25), in order and never upwards.
fn unexplained(score: f64) -> f64 {
    if score <= UNEXPLAINED_KEPT {
        score
    } else {
        UNEXPLAINED_KEPT + UNEXPLAINED_ROOM * ((score - UNEXPLAINED_KEPT) / (1.0 - UNEXPLAINED_KEPT))
    }
}
