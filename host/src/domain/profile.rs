//! The stored accessibility profile: how the client should look and behave, never why.

use std::ops::RangeInclusive;

/// Text sizes that a profile may hold, relative to the default.
pub const FONT_SCALE: RangeInclusive<f64> = 0.8..=2.0;

super::text_enum! {
    /// How the client looks.
    Theme {
        /// The default accessible mode.
        StandardAccessible = "standard-accessible",
        /// For low vision.
        LargeTextHighContrast = "large-text-high-contrast",
        /// For screen readers.
        VoiceAssisted = "voice-assisted",
    }
}

super::text_enum! {
    /// How much the client helps unasked.
    NudgingLevel {
        /// Rarely.
        Low = "low",
        /// The usual amount.
        Medium = "medium",
        /// Often.
        High = "high",
    }
}

/// A user's profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Theme.
    pub theme: Theme,
    /// Screen reader mode.
    pub screen_reader_mode: bool,
    /// In [`FONT_SCALE`].
    pub font_scale: f64,
    /// Nudging level.
    pub nudging_level: NudgingLevel,
    /// Voice feedback.
    pub voice_feedback: bool,
}

/// What a user has who never stored one. (A *recommended* standard profile has font scale 1.2; the
/// specification states both.)
impl Default for Profile {
    fn default() -> Self {
        Self {
            theme: Theme::StandardAccessible,
            screen_reader_mode: false,
            font_scale: 1.0,
            nudging_level: NudgingLevel::Medium,
            voice_feedback: false,
        }
    }
}
