//! Accessibility recommendations: request and answer.

use super::profile::{FONT_SCALE, Profile};
use super::{BadAnswer, check_unit_interval};

super::text_enum! {
    AppConfidence {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

super::text_enum! {
    /// The ranges of the specification.
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

/// A person's answers to the questionnaire, and observed behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub can_read_small_text: bool,
    pub uses_screen_reader: bool,
    pub feels_confident_with_apps: AppConfidence,
    pub age_range: AgeRange,
    pub avg_time_per_screen_seconds: u32,
    pub total_validation_errors: u32,
    pub requested_help_count: u32,
    /// False if the three counts above were not sent.
    pub behaviour_observed: bool,
    /// Language of the explanation.
    pub language: Language,
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
