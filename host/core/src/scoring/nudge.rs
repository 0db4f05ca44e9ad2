//! Decides whether a person on a screen needs help.

use std::borrow::Cow;

use crate::domain::accessibility::Language;
use crate::domain::fact::manifest::Manifest;
use crate::domain::model::ModelKind;
use crate::domain::nudge::{self, Assessment, NudgeType, Request};
use crate::schema::{Fields, Flat, answer, request};
use crate::scoring::kind::{Envelope, ID_CHARS_MAX, Kind, Scored, column};
use crate::scoring::random::Random;
use crate::wasm;

/// Whether a person on a screen needs help.
pub struct Nudge;

impl Kind for Nudge {
    const KIND: ModelKind = ModelKind::Nudge;

    const PATH: &'static str = "/ai/nudge";
    const OPERATION: (&'static str, &'static str) = ("assess_nudge", "Decide whether a person needs help");

    type Body = NudgeRequest;
    type Request = Request;
    type Assessment = Assessment;
    type Response = NudgeAnswer;
    type World = wasm::Nudge;

    const THRESHOLDS: &'static [(&'static str, f64)] =
        &[("help_above", nudge::HELP_ABOVE), ("assist_above", nudge::ASSIST_ABOVE)];
    const COLUMNS: &'static [&'static str] = &[
        "user_id",
        "session_id",
        "screen",
        "model_version",
        "needs_help",
        "difficulty_score",
        "recommended_nudge_type",
        "reason",
    ];
    const CLASSES: &'static [&'static str] = NudgeType::TEXTS;
    const CASES: &'static str = include_str!("../../../../tests/golden/hand/nudge.ndjson");
    const REQUIRED: &'static [&'static str] = &["not_type"];

    fn read(fields: &mut Fields, _: Language) -> Envelope<Request> {
        let NudgeRequest { user_id, session_id, facts: Flat(request) } = fields.read();
        Envelope { request, user_id, session_id }
    }

    fn response(envelope: Envelope<Request>, scored: Scored<Assessment>) -> NudgeAnswer {
        let Envelope { request, user_id, session_id } = envelope;
        NudgeAnswer::new([user_id, session_id], request.screen, scored)
    }

    fn columns(response: &NudgeAnswer) -> Vec<Cow<'_, str>> {
        let NudgeResult { needs_help, difficulty_score, recommended_nudge_type, reason } = &response.result;
        vec![
            column(response.user_id.as_deref()),
            column(response.session_id.as_deref()),
            response.screen.as_str().into(),
            response.model_version.as_str().into(),
            needs_help.to_string().into(),
            difficulty_score.to_string().into(),
            recommended_nudge_type.as_str().into(),
            reason.as_str().into(),
        ]
    }

    fn class(assessment: &Assessment) -> usize {
        assessment.nudge_type as usize
    }

    fn score(assessment: &Assessment) -> f64 {
        assessment.difficulty_score
    }

    fn features(request: &Request) -> Vec<(&'static str, f64)> {
        vec![
            ("num_validation_errors", f64::from(request.num_validation_errors)),
            ("time_on_screen_seconds", f64::from(request.time_on_screen_seconds)),
            ("num_back_navigations", f64::from(request.num_back_navigations)),
            ("steps_total", f64::from(request.steps_total)),
            ("current_step", f64::from(request.current_step)),
        ]
    }

    fn random_request(random: &mut Random) -> Option<Request> {
        let steps_total = 1 + random.below(8);
        Some(Request {
            screen: ["login", "home", "transfer_amount", "beneficiary_form"][random.below(4) as usize].to_owned(),
            num_validation_errors: random.below(8),
            time_on_screen_seconds: random.below(400),
            num_back_navigations: random.below(6),
            steps_total,
            current_step: 1 + random.below(steps_total),
        })
    }

    fn worsened(request: &Request, _: Option<&Manifest>, random: &mut Random) -> Vec<(String, Request)> {
        let request = request.clone();
        let num_validation_errors = request.num_validation_errors + random.below(5);
        let time_on_screen_seconds = request.time_on_screen_seconds + random.below(300);
        let num_back_navigations = request.num_back_navigations + random.below(5);
        vec![
            (
                format!("num_validation_errors = {num_validation_errors}"),
                Request { num_validation_errors, ..request.clone() },
            ),
            (
                format!("time_on_screen_seconds = {time_on_screen_seconds}"),
                Request { time_on_screen_seconds, ..request.clone() },
            ),
            (format!("num_back_navigations = {num_back_navigations}"), Request { num_back_navigations, ..request }),
        ]
    }
}

request! {
    /// A person's behaviour on a screen.
    pub struct NudgeRequest {
        /// Echoed.
        user_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"ana\"" },
        /// Echoed.
        session_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"s-1\"" },
        facts: Flat<nudge::Request>,
    }
}

answer! {
    /// Whether a person needs help.
    pub struct NudgeAnswer {
        /// As sent; absent if it was not.
        user_id: Option<String> { example: "\"ana\"" },
        /// As sent; absent if it was not.
        session_id: Option<String> { example: "\"s-1\"" },
        /// As sent.
        screen: String { example: "\"transfer_form\"" },
        /// Version of the model that answered.
        model_version: String { example: "\"nudge-1.0.0+0a1b2c3d\"" },
        result: NudgeResult,
    }
}

answer! {
    /// The help to offer.
    struct NudgeResult {
        /// Whether to offer help: a difficulty above 0.40.
        needs_help: bool { example: "true" },
        difficulty_score: f64 { at_least: 0.0, at_most: 1.0, example: "0.62" },
        /// `assist` above 0.75: help step by step. `info` above 0.40: a hint. `warning`: at most a quiet note.
        recommended_nudge_type: nudge::NudgeType { example: "\"info\"" },
        /// One reason for each type.
        reason: String { one_of: &nudge::REASONS, example: "\"moderate_difficulty\"" },
    }
}

impl NudgeAnswer {
    pub(crate) fn new(
        [user_id, session_id]: [Option<String>; 2],
        screen: String,
        scored: Scored<nudge::Assessment>,
    ) -> Self {
        let Scored { assessment, version } = scored;
        let result = NudgeResult {
            needs_help: assessment.needs_help,
            difficulty_score: assessment.difficulty_score,
            recommended_nudge_type: assessment.nudge_type,
            reason: assessment.reason,
        };
        Self { user_id, session_id, screen, model_version: version.into(), result }
    }
}
