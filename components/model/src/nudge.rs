//! Decides whether a person is struggling on a screen, from validation errors, time and back
//! navigations.
//!
//! The score is the logistic function of a sum that never falls as errors, time or back navigations
//! increase. Time is relative to the median of the screen, and being 1.4 to 1.7 times slower, as older
//! people are on average, is never enough for a nudge. The client decides what help looks like.

mod weights;

use crate::Invalid;
use crate::curve::{each_ln_from_one, sigmoid};
pub use weights::Weights;

/// Above this difficulty: step-by-step help.
pub const ASSIST_ABOVE: f64 = 0.75;
/// Above this difficulty a person needs help: at least a hint.
pub const INFO_ABOVE: f64 = 0.40;
/// Time above this multiple of the screen's median is excessive: it is the slowest 5 % of people, if
/// they take five times as long as the fastest 5 %.
pub const EXCESSIVE_TIMES: f64 = 2.24;

pub const COUNT: usize = 4;
/// Names of the values of [`features()`].
pub const FEATURES: [&str; COUNT] = ["validation_errors", "excessive_time", "back_navigations", "stalled_early"];

/// `ln 2.24`.
const LN_EXCESSIVE: f64 = 0.806_475_865_866_948_5;
/// `ln 6`: back navigations are capped at five. The reason for `assist` names errors and time, and
/// would be wrong if back navigations alone could reach it.
const BACKS_MAX: f64 = 1.791_759_469_228_055;
/// The sum at [`INFO_ABOVE`]: `ln(0.4 / 0.6)`, minus a margin for rounding.
pub const EDGE_INFO: f64 = -0.405_465_108_108_164_4 - 1e-12;
/// The sum at [`ASSIST_ABOVE`]: `ln 3`, minus the same margin.
pub const EDGE_ASSIST: f64 = 1.098_612_288_668_109_8 - 1e-12;

/// Median seconds of known screens. The first name that the identifier contains applies, ignoring case;
/// `confirm` comes first because `amount_confirm` is a confirmation.
const MEDIAN_SECONDS: [(&str, f64); 4] = [("confirm", 25.0), ("login", 30.0), ("beneficiary", 60.0), ("amount", 30.0)];
/// Median seconds of any other screen.
const MEDIAN_SECONDS_DEFAULT: f64 = 45.0;

/// What has happened on a screen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    pub screen: &'a str,
    pub num_validation_errors: u32,
    pub time_on_screen_seconds: u32,
    /// How often the person has returned to this screen.
    pub num_back_navigations: u32,
    /// Steps in the flow, >= 1.
    pub steps_total: u32,
    /// >= 1; values above `steps_total` count as the last step.
    pub current_step: u32,
}

/// Which help to offer, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Nudge {
    /// Difficulty above 0.75.
    Assist,
    /// Difficulty above 0.40.
    Info,
    /// Difficulty of 0.40 or less.
    Warning,
}

/// The meaning of a difficulty; depends on the score alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    pub nudge: Nudge,
    /// Reason code.
    pub reason: &'static str,
    /// True for `assist` and `info`.
    pub needs_help: bool,
}

/// A verdict with its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assessment {
    /// Difficulty, 0 to 1.
    pub score: f64,
    pub band: Band,
}

/// Scores one request.
///
/// # Errors
/// [`Invalid`] if `steps_total` or `current_step` is 0.
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

/// The band of a difficulty in 0 to 1. Both thresholds belong to the band below them.
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

/// The terms of the sum, for a request in range. They are non-negative, and never fall as errors, time
/// or back navigations increase.
///
/// - `validation_errors`: `ln(1 + errors)`;
/// - `excessive_time`: the logarithm of the ratio of time to the median, scaled to be 1 at 2.24; 0 up to
///   the median;
/// - `back_navigations`: `ln(1 + times)`, at most `ln 6`;
/// - `stalled_early`: the logarithm of that ratio beyond 2.24, multiplied by the fraction of the flow that
///   remains, since being stuck at its start is worse than at its end.
#[must_use]
pub fn features(request: &Request<'_>) -> [f64; COUNT] {
    let times = f64::from(request.time_on_screen_seconds) / median_seconds(request.screen);
    let [errors, backs, slowness] = each_ln_from_one([
        1.0 + f64::from(request.num_validation_errors),
        1.0 + f64::from(request.num_back_navigations),
        times,
    ]);
    let backs = if backs < BACKS_MAX { backs } else { BACKS_MAX };
    // Compare the ratio too: the logarithm of exactly 2.24 may be slightly above the constant.
    let beyond = if times > EXCESSIVE_TIMES && slowness > LN_EXCESSIVE { slowness - LN_EXCESSIVE } else { 0.0 };
    let step = request.current_step.min(request.steps_total);
    let left = 1.0 - f64::from(step) / f64::from(request.steps_total);
    [errors, slowness / LN_EXCESSIVE, backs, beyond * left]
}

/// Median seconds that people spend on a screen.
#[must_use]
pub fn median_seconds(screen: &str) -> f64 {
    MEDIAN_SECONDS
        .iter()
        .find(|(name, _)| contains_ignoring_case(screen, name))
        .map_or(MEDIAN_SECONDS_DEFAULT, |&(_, seconds)| seconds)
}

/// Whether `text` contains `part`, which is not empty, ignoring ASCII case. Unicode case tables would be
/// most of the component, and the names are ASCII.
fn contains_ignoring_case(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}
