//! The stored accessibility profile: how the client looks and behaves, but not why.

use std::ops::RangeInclusive;

use crate::schema::answer;

/// Relative to the default text size.
pub const FONT_SCALE: RangeInclusive<f64> = 0.8..=2.0;

super::text_enum! {
    Theme {
        StandardAccessible = "standard-accessible",
        LargeTextHighContrast = "large-text-high-contrast",
        VoiceAssisted = "voice-assisted",
    }
}

super::text_enum! {
    /// How often the client offers help unprompted.
    NudgingLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

answer! {
    /// How the client looks and behaves.
    pub struct Profile {
        pub theme: Theme { example: "\"large-text-high-contrast\"" },
        pub screen_reader_mode: bool { example: "false" },
        /// Text size relative to the default.
        pub font_scale: f64 { at_least: *FONT_SCALE.start(), at_most: *FONT_SCALE.end(), example: "1.6" },
        /// How often the client offers help unprompted.
        pub nudging_level: NudgingLevel { example: "\"high\"" },
        pub voice_feedback: bool { example: "false" },
    }
}

impl Copy for Profile {}

/// The profile of a user who has not stored one. A *recommended* standard profile has font scale 1.2; the
/// specification requires both.
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
