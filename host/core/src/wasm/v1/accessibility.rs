//! The world `accessibility-scorer`.

use crate::domain::accessibility::{AgeRange, AppConfidence, Assessment, Language, Request};
use crate::domain::profile::{NudgingLevel, Profile, Theme};
use crate::wasm::tenant::Tenant;
use crate::wasm::v1::adapter::scorer;

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "accessibility-scorer" });
}
use bindings::exports::caudal::scoring::accessibility as wit;

scorer!(
    Accessibility,
    bindings::AccessibilityScorerPre<Tenant>,
    "caudal:scoring/accessibility@1.0.0",
    wit::Assessment,
    Assessment::check
);

impl From<&Request> for wit::Request {
    fn from(request: &Request) -> Self {
        Self {
            can_read_small_text: request.can_read_small_text,
            uses_screen_reader: request.uses_screen_reader,
            feels_confident_with_apps: match request.feels_confident_with_apps {
                AppConfidence::Low => wit::AppConfidence::Low,
                AppConfidence::Medium => wit::AppConfidence::Medium,
                AppConfidence::High => wit::AppConfidence::High,
            },
            age_range: match request.age_range {
                AgeRange::From18To30 => wit::AgeRange::From18To30,
                AgeRange::From31To50 => wit::AgeRange::From31To50,
                AgeRange::From51To60 => wit::AgeRange::From51To60,
                AgeRange::Over60 => wit::AgeRange::Over60,
            },
            avg_time_per_screen_seconds: request.avg_time_per_screen_seconds,
            total_validation_errors: request.total_validation_errors,
            requested_help_count: request.requested_help_count,
            behaviour_observed: request.behaviour_observed,
            language: match request.language {
                Language::Spanish => wit::Language::EsMx,
                Language::English => wit::Language::En,
            },
        }
    }
}

impl From<wit::Assessment> for Assessment {
    fn from(answer: wit::Assessment) -> Self {
        Self {
            profile: Profile {
                theme: match answer.theme {
                    wit::Theme::StandardAccessible => Theme::StandardAccessible,
                    wit::Theme::LargeTextHighContrast => Theme::LargeTextHighContrast,
                    wit::Theme::VoiceAssisted => Theme::VoiceAssisted,
                },
                screen_reader_mode: answer.screen_reader_mode,
                font_scale: answer.font_scale,
                nudging_level: match answer.nudging_level {
                    wit::NudgingLevel::Low => NudgingLevel::Low,
                    wit::NudgingLevel::Medium => NudgingLevel::Medium,
                    wit::NudgingLevel::High => NudgingLevel::High,
                },
                voice_feedback: answer.voice_feedback,
            },
            confidence: answer.confidence,
            explanation: answer.explanation,
        }
    }
}
