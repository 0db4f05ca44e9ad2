//! Whether a person on a screen needs help: its request, its answer.

use serde::Serialize;

use crate::domain::nudge;
use crate::http::fields::Fields;
use crate::scoring::Scored;

/// Longest name of a screen, as in analytics.
const SCREEN_CHARS_MAX: usize = 64;

/// Reads what was seen on a screen.
pub(crate) fn read_nudge(fields: &mut Fields) -> nudge::Request {
    nudge::Request {
        screen: fields.text("screen", SCREEN_CHARS_MAX),
        num_validation_errors: fields.count("num_validation_errors", 0),
        time_on_screen_seconds: fields.count("time_on_screen_seconds", 0),
        num_back_navigations: fields.count("num_back_navigations", 0),
        steps_total: fields.count("steps_total", 1),
        current_step: fields.count("current_step", 1),
    }
}

/// The answer of `/ai/nudge`.
#[derive(Serialize)]
pub(crate) struct NudgeJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    screen: String,
    model_version: String,
    result: NudgeResult,
}

#[derive(Serialize)]
struct NudgeResult {
    needs_help: bool,
    difficulty_score: f64,
    recommended_nudge_type: &'static str,
    reason: String,
}

impl NudgeJson {
    pub(crate) fn new(
        [user_id, session_id]: [Option<String>; 2],
        screen: String,
        scored: Scored<nudge::Assessment>,
    ) -> Self {
        let Scored { assessment, version } = scored;
        let result = NudgeResult {
            needs_help: assessment.needs_help,
            difficulty_score: assessment.difficulty_score,
            recommended_nudge_type: assessment.nudge_type.as_str(),
            reason: assessment.reason,
        };
        Self { user_id, session_id, screen, model_version: version.to_string(), result }
    }
}
