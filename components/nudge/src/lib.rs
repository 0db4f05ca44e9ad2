//! The nudge scorer as a component: converts between the WIT types and [`caudal_model::nudge`].
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::vec::Vec;

use caudal_model::nudge::{self, Nudge};

use bindings::exports::caudal::scoring::model::{self, Invalid};
use bindings::exports::caudal::scoring::nudge::{Assessment, Guest, NudgeType, Request};

caudal_guest::bindings!("../../wit", "nudge-scorer");

const WEIGHTS: nudge::Weights<'static> = nudge::Weights::built_in(include_bytes!(env!("CAUDAL_NUDGE_WEIGHTS")));

struct Component;

impl model::Guest for Component {
    fn describe() -> model::Description {
        model::Description { kind: "nudge".into(), version: WEIGHTS.version.into(), summary: WEIGHTS.summary.into() }
    }
}

impl Guest for Component {
    fn assess(request: Request) -> Result<Assessment, Invalid> {
        let verdict = nudge::assess(
            &WEIGHTS,
            &nudge::Request {
                screen: &request.screen,
                num_validation_errors: request.num_validation_errors,
                time_on_screen_seconds: request.time_on_screen_seconds,
                num_back_navigations: request.num_back_navigations,
                steps_total: request.steps_total,
                current_step: request.current_step,
            },
        )
        .map_err(invalid)?;
        Ok(Assessment {
            needs_help: verdict.band.needs_help,
            difficulty_score: verdict.score,
            recommended_nudge_type: match verdict.band.nudge {
                Nudge::Assist => NudgeType::Assist,
                Nudge::Info => NudgeType::Info,
                Nudge::Warning => NudgeType::Warning,
            },
            reason: verdict.band.reason.into(),
        })
    }

    fn assess_batch(requests: Vec<Request>) -> Vec<Result<Assessment, Invalid>> {
        requests.into_iter().map(Self::assess).collect()
    }
}

fn invalid(invalid: caudal_model::Invalid) -> Invalid {
    Invalid { field: invalid.field.into(), code: invalid.code.into(), detail: invalid.detail.into() }
}
