//! The accessibility recommender as a component: converts between the WIT types and
//! [`caudal_model::accessibility`].
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::vec::Vec;

use caudal_model::accessibility as recommender;

use bindings::exports::caudal::scoring::accessibility::{
    AgeRange, AppConfidence, Assessment, Guest, Language, NudgingLevel, Request, Theme,
};
use bindings::exports::caudal::scoring::model::{self, Invalid};

caudal_guest::bindings!("../../wit", "accessibility-scorer");

const WEIGHTS: recommender::Weights<'static> =
    recommender::Weights::built_in(include_bytes!(env!("CAUDAL_ACCESSIBILITY_WEIGHTS")));

struct Component;

impl model::Guest for Component {
    fn describe() -> model::Description {
        model::Description {
            kind: "accessibility".into(),
            version: WEIGHTS.version.into(),
            summary: WEIGHTS.summary.into(),
        }
    }
}

impl Guest for Component {
    fn assess(request: Request) -> Result<Assessment, Invalid> {
        let profile = recommender::assess(&WEIGHTS, &facts(&request));
        Ok(Assessment {
            theme: match profile.theme {
                recommender::Theme::StandardAccessible => Theme::StandardAccessible,
                recommender::Theme::LargeTextHighContrast => Theme::LargeTextHighContrast,
                recommender::Theme::VoiceAssisted => Theme::VoiceAssisted,
            },
            screen_reader_mode: profile.screen_reader_mode,
            font_scale: profile.font_scale,
            nudging_level: match profile.nudging_level {
                recommender::NudgingLevel::Medium => NudgingLevel::Medium,
                recommender::NudgingLevel::High => NudgingLevel::High,
            },
            voice_feedback: profile.voice_feedback,
            confidence: profile.confidence,
            explanation: profile.explanation.into_iter().map(Into::into).collect(),
        })
    }

    fn assess_batch(requests: Vec<Request>) -> Vec<Result<Assessment, Invalid>> {
        requests.into_iter().map(Self::assess).collect()
    }
}

fn facts(request: &Request) -> recommender::Request {
    recommender::Request {
        can_read_small_text: request.can_read_small_text,
        uses_screen_reader: request.uses_screen_reader,
        feels_confident_with_apps: match request.feels_confident_with_apps {
            AppConfidence::Low => recommender::AppConfidence::Low,
            AppConfidence::Medium => recommender::AppConfidence::Medium,
            AppConfidence::High => recommender::AppConfidence::High,
        },
        age_range: match request.age_range {
            AgeRange::From18To30 => recommender::AgeRange::From18To30,
            AgeRange::From31To50 => recommender::AgeRange::From31To50,
            AgeRange::From51To60 => recommender::AgeRange::From51To60,
            AgeRange::Over60 => recommender::AgeRange::Over60,
        },
        avg_time_per_screen_seconds: request.avg_time_per_screen_seconds,
        total_validation_errors: request.total_validation_errors,
        requested_help_count: request.requested_help_count,
        behaviour_observed: request.behaviour_observed,
        language: match request.language {
            Language::EsMx => recommender::Language::EsMx,
            Language::En => recommender::Language::En,
        },
    }
}
