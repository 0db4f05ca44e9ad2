//! Recommends an accessibility profile.

use serde::Serialize;

use crate::domain::accessibility::{self, AgeRange, AppConfidence, Assessment, Language, Request};
use crate::domain::model::ModelKind;
use crate::http::fields::Fields;
use crate::scoring::kind::{Envelope, Kind, Scored};
use crate::wasm::v1;

/// The accessibility profile that suits a person.
pub struct Accessibility;

impl Kind for Accessibility {
    const KIND: ModelKind = ModelKind::Accessibility;

    type Request = Request;
    type Assessment = Assessment;
    type Response = AccessibilityJson;
    type World = v1::Accessibility;

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
    const CASES: &'static str = include_str!("../../../tests/golden/hand/accessibility.ndjson");

    fn read(fields: &mut Fields, language: Language) -> Request {
        read(fields, language)
    }

    fn response(envelope: Envelope<Request>, scored: Scored<Assessment>) -> AccessibilityJson {
        AccessibilityJson::new(envelope.user_id, scored)
    }

    fn columns(response: &AccessibilityJson) -> Vec<String> {
        let Recommendation { theme, screen_reader_mode, font_scale, nudging_level, voice_feedback } =
            &response.recommendation;
        vec![
            response.user_id.clone().unwrap_or_default(),
            response.model_version.clone(),
            (*theme).to_owned(),
            screen_reader_mode.to_string(),
            font_scale.to_string(),
            (*nudging_level).to_owned(),
            voice_feedback.to_string(),
            response.confidence.to_string(),
            response.explanation.join(" "),
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

fn read(fields: &mut Fields, language: Language) -> accessibility::Request {
    let confident = read_app_confidence(fields);
    let behaviour = ["avg_time_per_screen_seconds", "total_validation_errors", "requested_help_count"];
    // A questionnaire that uses the short name may leave behaviour out; the full name may not.
    let behaviour_observed = !confident.by_alias || behaviour.iter().all(|field| fields.has(field));
    let [time, errors, help] = behaviour.map(|field| match confident.by_alias {
        true => fields.optional_count(field).unwrap_or(0),
        false => fields.count(field, 0),
    });
    accessibility::Request {
        can_read_small_text: fields.boolean("can_read_small_text"),
        uses_screen_reader: fields.boolean("uses_screen_reader"),
        feels_confident_with_apps: confident.value,
        age_range: fields.one_of("age_range", AgeRange::ALL, AgeRange::parse),
        avg_time_per_screen_seconds: time,
        total_validation_errors: errors,
        requested_help_count: help,
        behaviour_observed,
        language,
    }
}

struct Confident {
    value: AppConfidence,
    by_alias: bool,
}

/// `feels_confident_with_apps`, or the short name that the specification's wizard uses.
fn read_app_confidence(fields: &mut Fields) -> Confident {
    const NAME: &str = "feels_confident_with_apps";
    const ALIAS: &str = "app_confidence";
    if !fields.has(ALIAS) {
        return Confident { value: fields.one_of(NAME, AppConfidence::ALL, AppConfidence::parse), by_alias: false };
    }
    let by_name = fields.optional_one_of(NAME, AppConfidence::ALL, AppConfidence::parse);
    let by_alias = fields.optional_one_of(ALIAS, AppConfidence::ALL, AppConfidence::parse);
    if let (Some(by_name), Some(by_alias)) = (by_name, by_alias)
        && by_name != by_alias
    {
        fields.refuse(ALIAS, "conflict", format!("differs from {NAME}"));
    }
    // Without either the request was refused above.
    Confident { value: by_alias.or(by_name).unwrap_or(AppConfidence::Medium), by_alias: !fields.has(NAME) }
}

/// The answer of `/ai/accessibility`.
#[derive(Serialize)]
pub struct AccessibilityJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    model_version: String,
    recommendation: Recommendation,
    confidence: f64,
    explanation: Vec<String>,
}

#[derive(Serialize)]
struct Recommendation {
    theme: &'static str,
    screen_reader_mode: bool,
    font_scale: f64,
    nudging_level: &'static str,
    voice_feedback: bool,
}

impl AccessibilityJson {
    fn new(user_id: Option<String>, scored: Scored<accessibility::Assessment>) -> Self {
        let Scored { assessment, version } = scored;
        let profile = assessment.profile;
        Self {
            user_id,
            model_version: version.to_string(),
            recommendation: Recommendation {
                theme: profile.theme.as_str(),
                screen_reader_mode: profile.screen_reader_mode,
                font_scale: profile.font_scale,
                nudging_level: profile.nudging_level.as_str(),
                voice_feedback: profile.voice_feedback,
            },
            confidence: assessment.confidence,
            explanation: assessment.explanation,
        }
    }
}
