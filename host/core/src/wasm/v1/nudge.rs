//! The world `nudge-scorer`.

use crate::domain::nudge::{Assessment, NudgeType, Request};
use crate::wasm::tenant::Tenant;
use crate::wasm::v1::adapter::scorer;

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "nudge-scorer" });
}
use bindings::exports::caudal::scoring::nudge as wit;

scorer!(Nudge, bindings::NudgeScorerPre<Tenant>, "caudal:scoring/nudge@1.0.0", wit::Assessment, Assessment::check);

impl From<&Request> for wit::Request {
    fn from(request: &Request) -> Self {
        Self {
            screen: request.screen.clone(),
            num_validation_errors: request.num_validation_errors,
            time_on_screen_seconds: request.time_on_screen_seconds,
            num_back_navigations: request.num_back_navigations,
            steps_total: request.steps_total,
            current_step: request.current_step,
        }
    }
}

impl From<wit::Assessment> for Assessment {
    fn from(answer: wit::Assessment) -> Self {
        Self {
            needs_help: answer.needs_help,
            difficulty_score: answer.difficulty_score,
            nudge_type: match answer.recommended_nudge_type {
                wit::NudgeType::Assist => NudgeType::Assist,
                wit::NudgeType::Info => NudgeType::Info,
                wit::NudgeType::Warning => NudgeType::Warning,
            },
            reason: answer.reason,
        }
    }
}
