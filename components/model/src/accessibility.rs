//! Recommends an accessibility profile from a person's answers and from how the app went so far.
//!
//! Answers are rules and win; age and behaviour are hints. The specification lets the age ranges
//! over 50 "lean towards" large text, and a person of that age who says that small text is fine
//! knows better, so this is what the lean is worth:
//! - by itself it lowers the confidence in the standard theme, never changes the theme;
//! - together with at least two signs of difficulty it tips to large text, with a confidence under
//!   [`SUGGESTION_BELOW`], so that a client asks instead of switching.
//!
//! What is said to a person is in `explanation.rs` and never mentions age. Not for storing profiles,
//! and not a diagnosis: it says which settings may help.

mod explanation;

use alloc::vec::Vec;

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
/// Signs of difficulty that tip a person over 50 to large text. One alone has too many causes.
const SIGNS_TO_TIP: u32 = 2;

/// Confidence in whole percent, so that adding and subtracting is exact.
mod percent {
    /// A screen reader is the most certain answer there is.
    pub(super) const SCREEN_READER: u32 = 95;
    /// An answer about small text.
    pub(super) const SMALL_TEXT: u32 = 92;
    /// An answer that small text is fine, with nothing against it.
    pub(super) const STANDARD: u32 = 90;
    /// Age and behaviour together, for 51 to 60.
    pub(super) const TIPPED: u32 = 60;
    /// The same over 60.
    pub(super) const TIPPED_OVER_60: u32 = 65;
    /// For answers that pull in two directions.
    pub(super) const CONFLICT: u32 = 5;
    /// For the lean of 51 to 60 against the answer.
    pub(super) const LEAN: u32 = 10;
    /// For the lean over 60 against the answer: with a questionnaire alone the profile becomes a
    /// suggestion.
    pub(super) const LEAN_OVER_60: u32 = 15;
    /// For each sign of difficulty against the standard theme.
    pub(super) const SIGN: u32 = 5;
    /// For a questionnaire without behaviour.
    pub(super) const UNOBSERVED: u32 = 10;
    /// Certainty.
    pub(super) const WHOLE: f64 = 100.0;
}

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
#[derive(Clone, Copy)]
struct Signs {
    slow: bool,
    errors: bool,
    help: bool,
}

impl Signs {
    fn of(request: &Request) -> Self {
        let seen = request.behaviour_observed;
        Self {
            slow: seen && request.avg_time_per_screen_seconds > SLOW_ABOVE_SECONDS,
            errors: seen && request.total_validation_errors >= ERRORS_FROM,
            help: seen && request.requested_help_count >= HELP_FROM,
        }
    }

    fn count(self) -> u32 {
        u32::from(self.slow) + u32::from(self.errors) + u32::from(self.help)
    }
}

/// Recommends for one person. Every request is valid.
#[must_use]
pub fn assess(request: &Request) -> Assessment {
    let signs = Signs::of(request);
    let rule = rule(request, signs);
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
        confidence: f64::from(confidence_percent(request, rule, signs)) / percent::WHOLE,
        explanation: explanation::sentences(request, rule, signs),
    }
}

fn rule(request: &Request, signs: Signs) -> Rule {
    if request.uses_screen_reader {
        Rule::ScreenReader
    } else if !request.can_read_small_text {
        Rule::SmallText
    } else if request.age_range >= AgeRange::From51To60 && signs.count() >= SIGNS_TO_TIP {
        Rule::Signs
    } else {
        Rule::Standard
    }
}

fn nudging_level(request: &Request, signs: Signs) -> NudgingLevel {
    let unsure = request.feels_confident_with_apps == Confidence::Low;
    if unsure || signs.errors || signs.help { NudgingLevel::High } else { NudgingLevel::Medium }
}

fn confidence_percent(request: &Request, rule: Rule, signs: Signs) -> u32 {
    let sure = match rule {
        // Some people who see well use one too, so the two answers pull apart only a little.
        Rule::ScreenReader if request.can_read_small_text => percent::SCREEN_READER - percent::CONFLICT,
        Rule::ScreenReader => percent::SCREEN_READER,
        Rule::SmallText => percent::SMALL_TEXT,
        Rule::Signs if request.age_range == AgeRange::Over60 => percent::TIPPED_OVER_60,
        Rule::Signs => percent::TIPPED,
        Rule::Standard => {
            let lean = match request.age_range {
                AgeRange::From18To30 | AgeRange::From31To50 => 0,
                AgeRange::From51To60 => percent::LEAN,
                AgeRange::Over60 => percent::LEAN_OVER_60,
            };
            percent::STANDARD - lean - percent::SIGN * signs.count()
        }
    };
    if request.behaviour_observed { sure } else { sure.saturating_sub(percent::UNOBSERVED) }
}
