//! Accessibility recommendations: request and answer.

use super::profile::{FONT_SCALE, Profile};
use super::{BadAnswer, check_unit_interval};
use crate::schema::{Fields, request};

super::text_enum! {
    AppConfidence {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

super::text_enum! {
    /// As in the specification.
    AgeRange {
        From18To30 = "18_30",
        From31To50 = "31_50",
        /// Inclusive of 60, although [`Over60`](Self::Over60) is written `60_plus`.
        From51To60 = "51_60",
        Over60 = "60_plus",
    }
}

super::text_enum! {
    /// Language of an explanation.
    Language {
        Spanish = "es-MX",
        English = "en",
    }
}

/// A questionnaire that uses the short name may leave behaviour out; the full name may not.
const APP_CONFIDENCE: (&str, &str) = ("app_confidence", "feels_confident_with_apps");

request! {
    /// A person's answers and observed behaviour.
    pub struct Request as "AccessibilityFacts" {
        /// How confident the person feels with apps.
        pub feels_confident_with_apps: AppConfidence { synonym: APP_CONFIDENCE.0, example: "\"low\"" },
        /// Average seconds per screen.
        pub avg_time_per_screen_seconds: u32 { optional_with: APP_CONFIDENCE, unit: "s", example: "40" },
        /// Total validation errors.
        pub total_validation_errors: u32 { optional_with: APP_CONFIDENCE, example: "2" },
        /// Times the person asked for help.
        pub requested_help_count: u32 { optional_with: APP_CONFIDENCE, example: "1" },
        /// The person says they can read small text.
        pub can_read_small_text: bool { example: "false" },
        /// The person uses a screen reader.
        pub uses_screen_reader: bool { example: "false" },
        /// Age range.
        pub age_range: AgeRange { example: "\"60_plus\"" },
        /// False when the three figures above were left out.
        pub behaviour_observed: bool = true,
        /// Language of the explanation.
        pub language: Language = Language::Spanish,
    }
}

impl Request {
    /// Whether a request that was read has all three counts of behaviour.
    pub(crate) fn is_complete(fields: &Fields) -> bool {
        let (alias, name) = APP_CONFIDENCE;
        let behaviour = ["avg_time_per_screen_seconds", "total_validation_errors", "requested_help_count"];
        !fields.has(alias) || fields.has(name) || behaviour.iter().all(|field| fields.has(field))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    pub profile: Profile,
    /// 0 to 1.
    pub confidence: f64,
    /// At least one sentence.
    pub explanation: Vec<String>,
}

impl Assessment {
    /// Rejects answers that no correct model gives.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), BadAnswer> {
        check_unit_interval(self.confidence, "the confidence is not a number from 0 to 1")?;
        if !FONT_SCALE.contains(&self.profile.font_scale) {
            return Err(BadAnswer("the font scale is out of range"));
        }
        if self.explanation.is_empty() || self.explanation.iter().any(|sentence| sentence.trim().is_empty()) {
            return Err(BadAnswer("the explanation is empty"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_answers_are_refused() {
        let sound = Assessment { profile: Profile::default(), confidence: 0.9, explanation: vec!["Because.".into()] };
        assert_eq!(sound.check(), Ok(()));
        let broken: [fn(&mut Assessment); 5] = [
            |answer| answer.confidence = f64::NAN,
            |answer| answer.confidence = 1.01,
            |answer| answer.profile.font_scale = f64::INFINITY,
            |answer| answer.explanation.clear(),
            |answer| answer.explanation[0] = " ".into(),
        ];
        for (index, harm) in broken.iter().enumerate() {
            let mut answer = sound.clone();
            harm(&mut answer);
            assert!(answer.check().is_err(), "case {index}");
        }
    }
}
