//! An accessibility profile for a person: its request, its answer.

use crate::domain::accessibility::{self, Language};
use crate::domain::profile::Profile;
use crate::schema::{Fields, Flat, answer, request};
use crate::scoring::Scored;
use crate::scoring::kind::ID_CHARS_MAX;

/// Reads a person's answers and how the app went. `language` is that of the explanation.
pub(crate) fn read_accessibility(fields: &mut Fields, language: Language) -> accessibility::Request {
    accessibility::Request::read(fields, language)
}

request! {
    /// A person's answers, and what was seen of how they use the app.
    pub(crate) struct AccessibilityRequest {
        /// Echoed.
        user_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"ana\"" },
        facts: Flat<accessibility::Request>,
    }
}

answer! {
    /// Which profile fits.
    pub(crate) struct AccessibilityAnswer {
        /// As it was sent; absent when it was not.
        user_id: Option<String> { example: "\"ana\"" },
        /// Which model answered.
        model_version: String { example: "\"accessibility-1.0.0+0a1b2c3d\"" },
        /// `PUT /api/profile/accessibility` takes it as it is.
        recommendation: Profile,
        /// Below 0.70 show the profile as a suggestion.
        confidence: f64 { at_least: 0.0, at_most: 1.0, example: "0.91" },
        /// At least one plain sentence for the person, in the requested language.
        explanation: Vec<String> { example: "[\"Elegimos letra grande porque la letra pequeña le cuesta.\"]" },
    }
}

impl AccessibilityAnswer {
    pub(crate) fn new(user_id: Option<String>, scored: Scored<accessibility::Assessment>) -> Self {
        let Scored { assessment: accessibility::Assessment { profile, confidence, explanation }, version } = scored;
        Self { user_id, model_version: version.to_string(), recommendation: profile, confidence, explanation }
    }
}
