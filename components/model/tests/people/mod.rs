//! The accessibility model, and people to ask about.

use caudal_model::accessibility::{AgeRange, AppConfidence, Language, Request, Theme, Weights};
use proptest::prelude::*;

pub(crate) const ACCESSIBILITY_2: Weights<'_> =
    Weights::built_in(include_bytes!("../../../accessibility/models/accessibility-2/weights.bin"));

pub(crate) const STANDARD: Theme = Theme::StandardAccessible;
pub(crate) const LARGE: Theme = Theme::LargeTextHighContrast;
pub(crate) const VOICE: Theme = Theme::VoiceAssisted;

pub(crate) const AGES: [AgeRange; 4] =
    [AgeRange::From18To30, AgeRange::From31To50, AgeRange::From51To60, AgeRange::Over60];
pub(crate) const CONFIDENCES: [AppConfidence; 3] = [AppConfidence::Low, AppConfidence::Medium, AppConfidence::High];

/// A young, confident person without needs or difficulties.
pub(crate) fn at_ease() -> Request {
    Request {
        can_read_small_text: true,
        uses_screen_reader: false,
        feels_confident_with_apps: AppConfidence::High,
        age_range: AgeRange::From18To30,
        avg_time_per_screen_seconds: 20,
        total_validation_errors: 0,
        requested_help_count: 0,
        behaviour_observed: true,
        language: Language::EsMx,
    }
}

pub(crate) fn any_person() -> impl Strategy<Value = Request> {
    let language = prop::sample::select(vec![Language::EsMx, Language::En]);
    let count = || prop_oneof![4 => 0..6_u32, 1 => any::<u32>()];
    let time = prop_oneof![4 => 0..200_u32, 1 => any::<u32>()];
    let confidence = prop::sample::select(CONFIDENCES.to_vec());
    let age = prop::sample::select(AGES.to_vec());
    ((any::<bool>(), any::<bool>(), any::<bool>()), (confidence, age, language), (time, count(), count())).prop_map(
        |((small, reader, seen), (confidence, age_range, language), (time, errors, help))| Request {
            can_read_small_text: small,
            uses_screen_reader: reader,
            feels_confident_with_apps: confidence,
            age_range,
            avg_time_per_screen_seconds: time,
            total_validation_errors: errors,
            requested_help_count: help,
            behaviour_observed: seen,
            language,
        },
    )
}
