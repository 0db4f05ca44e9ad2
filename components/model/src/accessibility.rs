//! Recommends an accessibility profile from a person's answers and from how the app went so far.
//!
//! Answers are rules and win; age and behaviour are hints, weighed by training. The specification lets
//! the age ranges over 50 "lean towards" large text, and a person of that age who says that small text
//! is fine knows better, so this is what the lean is worth:
//! - by itself it lowers the confidence in the standard theme, never changes the theme;
//! - together with signs of difficulty it may tip to large text, with a confidence under
//!   [`SUGGESTION_BELOW`], so that a client asks instead of switching.
//!
//! The confidence is how often people with the same answers and signs keep the recommended theme.
//! What is said to a person is in `explanation.rs` and never mentions age. Not for storing profiles,
//! and not a diagnosis: it says which settings may help.

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

/// More seconds a screen than this are slow: 2.24 times the median of 45, so the slowest 5 %.
const SLOW_ABOVE_SECONDS: u32 = 100;
/// From this many validation errors on they are a sign: repeating twice is common, thrice is not.
const ERRORS_FROM: u32 = 3;
/// From this many requests for help on they are a sign: once may be curiosity.
const HELP_FROM: u32 = 2;
/// Most confidence in what only age and signs suggest, in hundredths: an answer said otherwise, so
/// it stays a suggestion whatever the weights say.
const TIPPED_MAX: u32 = 69;
/// Hundredths taken off for a questionnaire without behaviour.
const UNOBSERVED: u32 = 10;
/// Certainty, in hundredths.
const WHOLE: f64 = 100.0;

/// How sure a person feels with apps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Not sure.
    Low,
    /// Somewhat sure.
    Medium,
    /// Sure.
    High,
}

/// Age ranges of the HTTP API, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgeRange {
    /// 18 to 30.
    From18To30,
    /// 31 to 50.
    From31To50,
    /// 51 to 60, 60 included.
    From51To60,
    /// Over 60.
    Over60,
}

/// Language of the explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Mexican Spanish.
    EsMx,
    /// English.
    En,
}

/// Themes of the HTTP API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Font scale 1.2.
    StandardAccessible,
    /// Font scale 1.6.
    LargeTextHighContrast,
    /// Font scale 1.2, screen reader mode and voice feedback on.
    VoiceAssisted,
}

/// How much the client should help unasked. `low` exists in stored profiles only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NudgingLevel {
    /// The usual amount.
    Medium,
    /// Often.
    High,
}

/// A person's answers and what was seen of their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The person says that small text is fine.
    pub can_read_small_text: bool,
    /// The person uses a screen reader.
    pub uses_screen_reader: bool,
    /// How sure the person feels with apps.
    pub feels_confident_with_apps: Confidence,
    /// Age range.
    pub age_range: AgeRange,
    /// Average seconds per screen.
    pub avg_time_per_screen_seconds: u32,
    /// Validation errors in all.
    pub total_validation_errors: u32,
    /// Times the person asked for help.
    pub requested_help_count: u32,
    /// False when behaviour was left out: its counts are then ignored, and confidence drops by 0.1.
    pub behaviour_observed: bool,
    /// Language of the explanation.
    pub language: Language,
}

/// A recommended profile with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// Theme.
    pub theme: Theme,
    /// Screen reader mode.
    pub screen_reader_mode: bool,
    /// Text size relative to the default: 1.2 or 1.6.
    pub font_scale: f64,
    /// Nudging level.
    pub nudging_level: NudgingLevel,
    /// Voice feedback.
    pub voice_feedback: bool,
    /// 0 to 1, in hundredths.
    pub confidence: f64,
    /// At least one plain sentence, from the person's answers.
    pub explanation: Vec<&'static str>,
}

/// Which rule chose the theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The answer about the screen reader.
    ScreenReader,
    /// The answer about small text.
    SmallText,
    /// Signs of difficulty, over 50.
    Signs,
    /// None of these.
    Standard,
}

/// Signs of difficulty in observed behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signs {
    /// More than 100 seconds a screen on average.
    pub slow: bool,
    /// Three validation errors or more.
    pub errors: bool,
    /// Help was asked for twice or more.
    pub help: bool,
}

impl Signs {
    /// The signs in a request; none when behaviour was not observed.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let seen = request.behaviour_observed;
        Self {
            slow: seen && request.avg_time_per_screen_seconds > SLOW_ABOVE_SECONDS,
            errors: seen && request.total_validation_errors >= ERRORS_FROM,
            help: seen && request.requested_help_count >= HELP_FROM,
        }
    }
}

/// Recommends for one person. Every request is valid.
#[must_use]
pub fn assess(weights: &Weights<'_>, request: &Request) -> Assessment {
    let signs = Signs::of(request);
    let (rule, probability) = weigh(weights, request, signs);
    let (theme, font_scale) = match rule {
        Rule::ScreenReader => (Theme::VoiceAssisted, FONT_SCALE_STANDARD),
        Rule::SmallText | Rule::Signs => (Theme::LargeTextHighContrast, FONT_SCALE_LARGE),
        Rule::Standard => (Theme::StandardAccessible, FONT_SCALE_STANDARD),
    };
    let voice = rule == Rule::ScreenReader;
    Assessment {
        theme,
        screen_reader_mode: voice,
        font_scale,
        nudging_level: nudging_level(request, signs),
        voice_feedback: voice,
        confidence: f64::from(hundredths(request, rule, probability)) / WHOLE,
        explanation: explanation::sentences(request, rule, signs),
    }
}

/// Which rule holds, and how probable it is that the person keeps what it recommends.
fn weigh(weights: &Weights<'_>, request: &Request, signs: Signs) -> (Rule, f64) {
    if request.uses_screen_reader {
        let conflict = if request.can_read_small_text { weights.reads_small_text_too } else { 0.0 };
        return (Rule::ScreenReader, sigmoid(weights.screen_reader + conflict));
    }
    if !request.can_read_small_text {
        return (Rule::SmallText, sigmoid(weights.small_text.sum(request.age_range, signs)));
    }
    let large = weights.leaning.sum(request.age_range, signs);
    // The probability of the other theme is that of the opposite sum.
    if large > 0.0 { (Rule::Signs, sigmoid(large)) } else { (Rule::Standard, sigmoid(-large)) }
}

fn nudging_level(request: &Request, signs: Signs) -> NudgingLevel {
    let unsure = request.feels_confident_with_apps == Confidence::Low;
    if unsure || signs.errors || signs.help { NudgingLevel::High } else { NudgingLevel::Medium }
}

/// A probability in whole hundredths, since it is not known any better, and rather too low than too
/// high. Not below zero, nor above 100.
fn hundredths(request: &Request, rule: Rule, probability: f64) -> u32 {
    // A probability is 0 to 1, so that the truncation only rounds down.
    let sure = (probability * WHOLE) as u32;
    let sure = if rule == Rule::Signs { sure.min(TIPPED_MAX) } else { sure };
    if request.behaviour_observed { sure } else { sure.saturating_sub(UNOBSERVED) }
}
