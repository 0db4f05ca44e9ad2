//! Recommends an accessibility profile.

use std::borrow::Cow;

use crate::domain::accessibility::{self, Assessment, Language, Request};
use crate::domain::model::ModelKind;
use crate::domain::profile::Profile;
use crate::schema::{Fields, Flat, answer, request};
use crate::scoring::kind::{Envelope, ID_CHARS_MAX, Kind, Scored, column};
use crate::wasm;

/// The accessibility profile that suits a person.
pub struct Accessibility;

impl Kind for Accessibility {
    const KIND: ModelKind = ModelKind::Accessibility;

    const PATH: &'static str = "/ai/accessibility";
    const OPERATION: (&'static str, &'static str) = ("assess_accessibility", "Recommend an accessibility profile");
    const IS_IN_WORDS: bool = true;

    type Body = AccessibilityRequest;
    type Request = Request;
    type Assessment = Assessment;
    type Response = AccessibilityAnswer;
    type World = wasm::Accessibility;

    const COLUMNS: &'static [&'static str] = &[
        "user_id",
        "model_version",
        "theme",
        "screen_reader_mode",
        "font_scale",
        "nudging_level",
        "voice_feedback",
        "confidence",
        "explanation",
    ];
    const CLASSES: &'static [&'static str] = &["same", "other"];
    const IS_PRIVATE: bool = true;
    const CASES: &'static str = include_str!("../../../../tests/golden/hand/accessibility.ndjson");
    const REQUIRED: &'static [&'static str] =
        &["theme", "screen_reader_mode", "font_scale", "voice_feedback", "nudging_level"];

    fn read(fields: &mut Fields, language: Language) -> Envelope<Request> {
        let AccessibilityRequest { user_id, facts: Flat(request) } = fields.read();
        let request = Request { behaviour_observed: Request::is_complete(fields), language, ..request };
        Envelope { request, user_id, session_id: None }
    }

    fn response(envelope: Envelope<Request>, scored: Scored<Assessment>) -> AccessibilityAnswer {
        AccessibilityAnswer::new(envelope.user_id, scored)
    }

    fn columns(response: &AccessibilityAnswer) -> Vec<Cow<'_, str>> {
        let Profile { theme, screen_reader_mode, font_scale, nudging_level, voice_feedback } = &response.recommendation;
        vec![
            column(response.user_id.as_deref()),
            response.model_version.as_str().into(),
            theme.as_str().into(),
            screen_reader_mode.to_string().into(),
            font_scale.to_string().into(),
            nudging_level.as_str().into(),
            voice_feedback.to_string().into(),
            response.confidence.to_string().into(),
            response.explanation.join(" ").into(),
        ]
    }

    fn class(assessment: &Assessment) -> usize {
        assessment.profile.theme as usize
    }

    fn score(assessment: &Assessment) -> f64 {
        assessment.confidence
    }

    /// None: a person's abilities are not counted, not even in aggregate.
    fn features(_: &Request) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

request! {
    /// A person's answers, and observations of how they use the app.
    pub struct AccessibilityRequest {
        /// Echoed.
        user_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"ana\"" },
        facts: Flat<accessibility::Request>,
    }
}

answer! {
    /// The profile that fits.
    pub struct AccessibilityAnswer {
        /// As sent; absent if it was not.
        user_id: Option<String> { example: "\"ana\"" },
        /// Version of the model that answered.
        model_version: String { example: "\"accessibility-2.0.0+0a1b2c3d\"" },
        /// `PUT /api/profile/accessibility` accepts it unchanged.
        recommendation: Profile,
        /// Below 0.70, show the profile as a suggestion.
        confidence: f64 { at_least: 0.0, at_most: 1.0, example: "0.91" },
        /// At least one plain sentence for the person, in the requested language.
        explanation: Vec<String> { example: "[\"Indicaste que te cuesta leer texto pequeño.\"]" },
    }
}

impl AccessibilityAnswer {
    pub(crate) fn new(user_id: Option<String>, scored: Scored<accessibility::Assessment>) -> Self {
        let Scored { assessment: accessibility::Assessment { profile, confidence, explanation }, version } = scored;
        Self { user_id, model_version: version.into(), recommendation: profile, confidence, explanation }
    }
}
