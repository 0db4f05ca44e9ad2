//! Decides whether a person is struggling on a screen: validation errors, time and going back.
//!
//! The score is a logistic curve over a sum that only rises with errors, time and back navigations.
//! Slowness counts from the screen's own median, and being 1.4 to 1.7 times slower, as older people
//! are on average, never asks for help by itself. Not for how the help looks: a client decides.

mod weights;

use crate::Invalid;
use crate::curve::{ln_from_one, sigmoid};
pub use weights::{Weights, parameter};

/// Above this difficulty: step-by-step help.
pub const ASSIST_ABOVE: f64 = 0.75;
/// Above this difficulty: a hint. Also where a person counts as needing help.
pub const INFO_ABOVE: f64 = 0.40;
/// Time above this many times the screen's median is excessive: the slowest 5 % of people, when
/// the slowest 5 % are five times as slow as the fastest 5 %.
pub const EXCESSIVE_TIMES: f64 = 2.24;

/// How many features there are.
pub const COUNT: usize = 4;
/// Names of [`features`], in their order.
pub const FEATURES: [&str; COUNT] = ["validation_errors", "excessive_time", "back_navigations", "stalled_early"];

/// `ln 2.24`.
const LN_EXCESSIVE: f64 = 0.806_475_865_866_948_5;
/// `ln 6`: after the fifth time, going back says no more. The reason for `assist` names errors and
/// time, and would be false if going back could reach it alone.
const BACKS_SATURATE: f64 = 1.791_759_469_228_055;
/// Where the sum gives [`INFO_ABOVE`]: `ln(0.4 / 0.6)`, less what rounding may add.
pub const EDGE_INFO: f64 = -0.405_465_108_108_164_4 - 1e-12;
/// Where the sum gives [`ASSIST_ABOVE`]: `ln 3`, less the same.
pub const EDGE_ASSIST: f64 = 1.098_612_288_668_109_8 - 1e-12;

/// Median seconds of the screens we know. An identifier belongs to the first entry that it
/// contains, in any letter case; `confirm` stands first because `amount_confirm` is a confirmation.
const MEDIAN_SECONDS: [(&str, f64); 4] = [("confirm", 25.0), ("login", 30.0), ("beneficiary", 60.0), ("amount", 30.0)];
/// Median seconds of any other screen.
const MEDIAN_SECONDS_DEFAULT: f64 = 45.0;

/// What was seen on a screen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Screen identifier.
    pub screen: &'a str,
    /// Validation errors shown on this screen.
    pub num_validation_errors: u32,
    /// Seconds spent on this screen.
    pub time_on_screen_seconds: u32,
    /// Times the person went back to it.
    pub num_back_navigations: u32,
    /// Steps of the flow, >= 1.
    pub steps_total: u32,
    /// Current step, >= 1; above `steps_total` counts as the last.
    pub current_step: u32,
}

/// Which help to offer, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nudge {
    /// Difficulty above 0.75.
    Assist,
    /// Difficulty above 0.40.
    Info,
    /// Difficulty of 0.40 or less.
    Warning,
}

/// What a difficulty means: a function of the score alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// Which help to offer.
    pub nudge: Nudge,
    /// Reason code of that help.
    pub reason: &'static str,
    /// True for `assist` and `info`.
    pub needs_help: bool,
}

/// A verdict with its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assessment {
    /// Difficulty, 0 to 1.
    pub score: f64,
    /// What it means.
    pub band: Band,
}

/// Scores one request.
///
/// # Errors
/// [`Invalid`] when `steps_total` or `current_step` is 0.
pub fn assess(weights: &Weights<'_>, request: &Request<'_>) -> Result<Assessment, Invalid> {
    if request.steps_total == 0 {
        return Err(Invalid::out_of_range("steps_total", "A flow has at least one step."));
    }
    if request.current_step == 0 {
        return Err(Invalid::out_of_range("current_step", "Steps are counted from one."));
    }
    let mut sum = weights.base;
    for (coefficient, value) in weights.coefficients.into_iter().zip(features(request)) {
        sum += coefficient * value;
    }
    let score = sigmoid(sum);
    Ok(Assessment { score, band: band(score) })
}

/// The band of a difficulty of 0 to 1. Both edges belong to the band below them.
#[must_use]
pub fn band(score: f64) -> Band {
    let (nudge, reason) = if score > ASSIST_ABOVE {
        (Nudge::Assist, "high_error_rate_or_time")
    } else if score > INFO_ABOVE {
        (Nudge::Info, "moderate_difficulty")
    } else {
        (Nudge::Warning, "low_difficulty")
    };
    Band { nudge, reason, needs_help: nudge != Nudge::Warning }
}

/// What the score is a sum of, for a request whose steps are in range. Each is zero or more, and none
/// falls when errors, time or back navigations grow.
///
/// - `validation_errors`: `ln(1 + errors)`;
/// - `excessive_time`: how many times the median, as a logarithm that is 0 up to the median and 1 at
///   2.24 times;
/// - `back_navigations`: `ln(1 + times)`, up to `ln 6`;
/// - `stalled_early`: the logarithm beyond 2.24 times, times the part of the flow that is left, since
///   being stuck at its start is worse than at its end.
#[must_use]
pub fn features(request: &Request<'_>) -> [f64; COUNT] {
    let errors = ln_from_one(1.0 + f64::from(request.num_validation_errors));
    let backs = ln_from_one(1.0 + f64::from(request.num_back_navigations));
    let backs = if backs < BACKS_SATURATE { backs } else { BACKS_SATURATE };
    let times = f64::from(request.time_on_screen_seconds) / median_seconds(request.screen);
    let slowness = ln_from_one(times);
    // By the ratio itself: the logarithm of exactly 2.24 may be a hair above the constant.
    let beyond = if times > EXCESSIVE_TIMES && slowness > LN_EXCESSIVE { slowness - LN_EXCESSIVE } else { 0.0 };
    let step = request.current_step.min(request.steps_total);
    let left = 1.0 - f64::from(step) / f64::from(request.steps_total);
    [errors, slowness / LN_EXCESSIVE, backs, beyond * left]
}

/// Median seconds on a screen.
#[must_use]
pub fn median_seconds(screen: &str) -> f64 {
    MEDIAN_SECONDS
        .iter()
        .find(|(name, _)| contains_ignoring_case(screen, name))
        .map_or(MEDIAN_SECONDS_DEFAULT, |&(_, seconds)| seconds)
}

/// Whether `text` contains `part` in any ASCII letter case; `part` is not empty. Unicode case
/// tables would be most of the component, and the names are ASCII.
fn contains_ignoring_case(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}
