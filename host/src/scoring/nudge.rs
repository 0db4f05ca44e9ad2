//! Whether a person on a screen needs help: its request, its answer.

use crate::domain::nudge;
use crate::schema::{Fields, Flat, answer, request};
use crate::scoring::Scored;
use crate::scoring::kind::ID_CHARS_MAX;

/// Reads what was seen on a screen.
pub(crate) fn read_nudge(fields: &mut Fields) -> nudge::Request {
    fields.read()
}

request! {
    /// What was seen of a person on a screen.
    pub(crate) struct NudgeRequest {
        /// Echoed.
        user_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"ana\"" },
        /// Echoed.
        session_id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"s-1\"" },
        facts: Flat<nudge::Request>,
    }
}

answer! {
    /// Whether a person needs help.
    pub(crate) struct NudgeAnswer {
        /// As it was sent; absent when it was not.
        user_id: Option<String> { example: "\"ana\"" },
        /// As it was sent; absent when it was not.
        session_id: Option<String> { example: "\"s-1\"" },
        /// As it was sent.
        screen: String { example: "\"transfer_form\"" },
        /// Which model answered.
        model_version: String { example: "\"nudge-1.0.0+0a1b2c3d\"" },
        result: NudgeResult,
    }
}

answer! {
    /// Which help to offer.
    pub(crate) struct NudgeResult {
        /// Whether to offer help: a difficulty above 0.40.
        needs_help: bool { example: "true" },
        difficulty_score: f64 { at_least: 0.0, at_most: 1.0, example: "0.62" },
        /// `assist` above 0.75: help step by step. `info` above 0.40: a hint. `warning`: at most a quiet note.
        recommended_nudge_type: nudge::NudgeType { example: "\"info\"" },
        /// One for each type.
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
        Self { user_id, session_id, screen, model_version: version.to_string(), result }
    }
}
