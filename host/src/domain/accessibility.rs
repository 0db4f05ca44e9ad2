//! What goes into an accessibility recommendation and what comes out.

use super::profile::{FONT_SCALE, Profile};
use super::{BadAnswer, check_unit_interval};

super::text_enum! {
    /// How sure a person feels with apps.
    AppConfidence {
        /// Not sure.
        Low = "low",
        /// Somewhat sure.
        Medium = "medium",
        /// Sure.
        High = "high",
    }
}

super::text_enum! {
    /// Age ranges of the specification.
    AgeRange {
        /// 18 to 30.
        From18To30 = "18_30",
        /// 31 to 50.
        From31To50 = "31_50",
        /// 51 to 60, 60 included.
        From51To60 = "51_60",
        /// Over 60.
        Over60 = "60_plus",
    }
}

super::text_enum! {
    /// Language of an explanation.
    Language {
        /// Mexican Spanish.
        Spanish = "es-MX",
        /// English.
        English = "en",
    }
}

/// A person's answers and behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Small text is fine.
    pub can_read_small_text: bool,
    /// Uses a screen reader.
    pub uses_screen_reader: bool,
    /// How sure the person feels.
    pub feels_confident_with_apps: AppConfidence,
    /// Age range.
    pub age_range: AgeRange,
    /// Average seconds per screen.
    pub avg_time_per_screen_seconds: u32,
    /// Validation errors in all.
    pub total_validation_errors: u32,
    /// Times help was asked for.
    pub requested_help_count: u32,
    /// False when the three counts above were not sent.
    pub behaviour_observed: bool,
    /// Language of the explanation.
    pub language: Language,
}

/// A recommendation with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The recommended profile.
    pub profile: Profile,
    /// 0 to 1.
    pub confidence: f64,
    /// At least one sentence.
    pub explanation: Vec<String>,
}

impl Assessment {
    /// Refuses an answer that no correct model gives.
    ///
    /// # Errors
    /// Names the first thing that is wrong.
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
    fn answers_that_cannot_be_are_refused() {
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
