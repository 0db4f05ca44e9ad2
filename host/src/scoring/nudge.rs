//! Decides whether a person on a screen needs help.

use serde::Serialize;

use crate::domain::accessibility::Language;
use crate::domain::model::ModelKind;
use crate::domain::nudge::{self, Assessment, NudgeType, Request};
use crate::http::fields::Fields;
use crate::scoring::kind::{Envelope, Kind, Scored};
use crate::scoring::random::Random;
use crate::wasm::v1;

/// Longest name of a screen, as in analytics.
const SCREEN_CHARS_MAX: usize = 64;

/// Whether a person on a screen needs help.
pub struct Nudge;

impl Kind for Nudge {
    const KIND: ModelKind = ModelKind::Nudge;

    type Request = Request;
    type Assessment = Assessment;
    type Response = NudgeJson;
    type World = v1::Nudge;

    const HAS_SESSION: bool = true;
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
    const CASES: &'static str = include_str!("../../../tests/golden/hand/nudge.ndjson");

    fn read(fields: &mut Fields, _: Language) -> Request {
        read(fields)
    }

    fn response(envelope: Envelope<Request>, scored: Scored<Assessment>) -> NudgeJson {
        let Envelope { request, user_id, session_id } = envelope;
        NudgeJson::new([user_id, session_id], request.screen, scored)
    }

    fn columns(response: &NudgeJson) -> Vec<String> {
        let NudgeResult { needs_help, difficulty_score, recommended_nudge_type, reason } = &response.result;
        vec![
            response.user_id.clone().unwrap_or_default(),
            response.session_id.clone().unwrap_or_default(),
            response.screen.clone(),
            response.model_version.clone(),
            needs_help.to_string(),
            difficulty_score.to_string(),
            (*recommended_nudge_type).to_owned(),
            reason.clone(),
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

    fn worsened(request: &Request, random: &mut Random) -> Vec<(&'static str, Request)> {
        let request = request.clone();
        let num_validation_errors = request.num_validation_errors + random.below(5);
        let time_on_screen_seconds = request.time_on_screen_seconds + random.below(300);
        let num_back_navigations = request.num_back_navigations + random.below(5);
        vec![
            ("more errors", Request { num_validation_errors, ..request.clone() }),
            ("more time", Request { time_on_screen_seconds, ..request.clone() }),
            ("more steps back", Request { num_back_navigations, ..request }),
        ]
    }
}

fn read(fields: &mut Fields) -> nudge::Request {
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
pub struct NudgeJson {
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
    fn new([user_id, session_id]: [Option<String>; 2], screen: String, scored: Scored<nudge::Assessment>) -> Self {
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
