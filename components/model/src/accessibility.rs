//! Recommends an accessibility profile from a person's answers and their use of the app so far.
//!
//! Answers are rules: a screen reader comes first, then small text that is hard to read. The weights of the
//! confidences are trained. The specification lets the age ranges over 50 "lean towards" large text. For people
//! who say that they read small text well, age by itself leads to large text with a confidence below
//! [`SUGGESTION_BELOW`], so that a client asks instead of switching. Two signs of difficulty may raise it above.
//!
//! The confidence is the share of people with the same answers and signs who keep the recommended theme.
//! The recommendation is not a diagnosis: it says which settings may help.

mod explanation;
mod weights;

use alloc::vec::Vec;

use crate::curve::sigmoid;
pub use weights::{Lean, Weights, parameter};

/// Below this confidence a client presents the profile as a suggestion.
pub const SUGGESTION_BELOW: f64 = 0.70;

/// Font scale of the standard and of the voice-assisted theme.
pub const FONT_SCALE_STANDARD: f64 = 1.2;
/// Font scale of the large-text theme.
pub const FONT_SCALE_LARGE: f64 = 1.6;

/// More seconds per screen are slow: 2.24 times the median of 45, so the slowest 5 %.
const SLOW_ABOVE_SECONDS: u32 = 100;
/// This many validation errors are a sign: two are common, three are not.
const ERRORS_FROM: u32 = 3;
/// This many requests for help are a sign: one may be curiosity.
const HELP_FROM: u32 = 2;
/// This many signs confirm what age suggests: one may be chance, and pace slows with age.
const SIGNS_ENOUGH: usize = 2;
/// Maximum confidence, in hundredths, in what has to stay a suggestion whatever the weights say.
const SUGGESTION_MAX: u32 = 69;
/// Hundredths deducted if no behaviour was observed.
const UNOBSERVED: u32 = 10;
const WHOLE: f64 = 100.0;

/// How confident a person feels with apps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum AppConfidence {
    Low,
    Medium,
    High,
}

/// Age ranges of the HTTP API, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AgeRange {
    #[cfg_attr(feature = "serde", serde(rename = "18_30"))]
    From18To30,
    #[cfg_attr(feature = "serde", serde(rename = "31_50"))]
    From31To50,
    #[cfg_attr(feature = "serde", serde(rename = "51_60"))]
    From51To60,
    #[cfg_attr(feature = "serde", serde(rename = "60_plus"))]
    Over60,
}

/// Language of the explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    EsMx,
    En,
}

/// Themes of the HTTP API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Theme {
    /// Font scale 1.2.
    StandardAccessible,
    /// Font scale 1.6.
    LargeTextHighContrast,
    /// Font scale 1.2, screen reader mode and voice feedback on.
    VoiceAssisted,
}

/// How often the client should offer help. `low` exists in stored profiles only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum NudgingLevel {
    Medium,
    High,
}

/// A person's answers and observed behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub can_read_small_text: bool,
    pub uses_screen_reader: bool,
    pub feels_confident_with_apps: AppConfidence,
    pub age_range: AgeRange,
    pub avg_time_per_screen_seconds: u32,
    pub total_validation_errors: u32,
    pub requested_help_count: u32,
    /// If false, the three figures above are ignored and the confidence drops by 0.1.
    pub behaviour_observed: bool,
    /// Language of the explanation.
    pub language: Language,
}

/// A recommended profile with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub theme: Theme,
    pub screen_reader_mode: bool,
    /// Text size relative to the default: 1.2 or 1.6.
    pub font_scale: f64,
    pub nudging_level: NudgingLevel,
    pub voice_feedback: bool,
    /// 0 to 1, a multiple of 0.01.
    pub confidence: f64,
    /// At least one sentence.
    pub explanation: Vec<&'static str>,
}

/// The rule that chose the theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    ScreenReader,
    SmallText,
    /// An age over 50, with one sign of difficulty at most.
    Age,
    /// An age over 50, with more signs.
    Signs,
    Standard,
}

/// Signs of difficulty in observed behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signs {
    /// More than 100 seconds per screen on average.
    pub slow: bool,
    /// At least three validation errors.
    pub errors: bool,
    /// At least two requests for help.
    pub help: bool,
}

impl Signs {
    /// No signs if behaviour was not observed.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let seen = request.behaviour_observed;
        Self {
            slow: seen && request.avg_time_per_screen_seconds > SLOW_ABOVE_SECONDS,
            errors: seen && request.total_validation_errors >= ERRORS_FROM,
            help: seen && request.requested_help_count >= HELP_FROM,
        }
    }

    fn count(self) -> usize {
        [self.slow, self.errors, self.help].into_iter().filter(|&sign| sign).count()
    }
}

/// Recommends a profile. Every request is valid.
#[must_use]
pub fn assess(weights: &Weights<'_>, request: &Request) -> Assessment {
    let signs = Signs::of(request);
    let (rule, probability) = weigh(weights, request, signs);
    let confidence = f64::from(hundredths(request, rule, probability)) / WHOLE;
    let (theme, font_scale) = match rule {
        Rule::ScreenReader => (Theme::VoiceAssisted, FONT_SCALE_STANDARD),
        Rule::SmallText | Rule::Age | Rule::Signs => (Theme::LargeTextHighContrast, FONT_SCALE_LARGE),
        Rule::Standard => (Theme::StandardAccessible, FONT_SCALE_STANDARD),
    };
    let voice = rule == Rule::ScreenReader;
    Assessment {
        theme,
        screen_reader_mode: voice,
        font_scale,
        nudging_level: nudging_level(request, signs),
        voice_feedback: voice,
        confidence,
        explanation: explanation::sentences(request, rule, signs, confidence < SUGGESTION_BELOW),
    }
}

/// The rule that applies, and the probability that the person keeps the theme it recommends.
fn weigh(weights: &Weights<'_>, request: &Request, signs: Signs) -> (Rule, f64) {
    if request.uses_screen_reader {
        let conflict = if request.can_read_small_text { weights.reads_small_text_too } else { 0.0 };
        return (Rule::ScreenReader, sigmoid(weights.screen_reader + conflict));
    }
    if !request.can_read_small_text {
        return (Rule::SmallText, sigmoid(weights.small_text.sum(request.age_range, signs)));
    }
    let large = weights.leaning.sum(request.age_range, signs);
    if request.age_range < AgeRange::From51To60 {
        return (Rule::Standard, sigmoid(-large));
    }
    (if signs.count() < SIGNS_ENOUGH { Rule::Age } else { Rule::Signs }, sigmoid(large))
}

fn nudging_level(request: &Request, signs: Signs) -> NudgingLevel {
    let unsure = request.feels_confident_with_apps == AppConfidence::Low;
    if unsure || signs.errors || signs.help { NudgingLevel::High } else { NudgingLevel::Medium }
}

/// The confidence in hundredths, which is as precise as it is known, rounded down.
fn hundredths(request: &Request, rule: Rule, probability: f64) -> u32 {
    let sure = (probability * WHOLE) as u32;
    let sure = if rule == Rule::Age { sure.min(SUGGESTION_MAX) } else { sure };
    if request.behaviour_observed { sure } else { sure.saturating_sub(UNOBSERVED) }
}
