//! Nudges: request and answer.

use super::{BadAnswer, check_unit_interval};
use crate::schema::record;

/// Above this difficulty the nudge is `assist`.
pub const ASSIST_ABOVE: f64 = 0.75;

/// Above this difficulty a person needs help.
pub const HELP_ABOVE: f64 = 0.40;

/// Longest name of a screen in characters, here and in analytics.
pub const SCREEN_CHARS_MAX: usize = 64;

record! {
    /// A person's behaviour on a screen so far.
    pub struct Request as "NudgeFacts" {
        /// Name of the screen. Known screens have their own usual time.
        pub screen: String { chars_max: SCREEN_CHARS_MAX, example: "\"transfer_form\"" },
        /// Validation errors shown.
        pub num_validation_errors: u32 { example: "3" },
        /// Seconds on the screen.
        pub time_on_screen_seconds: u32 { unit: "s", example: "95" },
        /// Times the person went back.
        pub num_back_navigations: u32 { example: "1" },
        /// Steps of the flow.
        pub steps_total: u32 { at_least: 1.0, example: "4" },
        /// The current step.
        pub current_step: u32 { at_least: 1.0, example: "2" },
    }
}

super::text_enum! {
    NudgeType {
        /// Step-by-step help.
        Assist = "assist",
        /// A hint.
        Info = "info",
        /// At most a quiet note.
        Warning = "warning",
    }
}

/// The reason codes, in the order of the types.
pub const REASONS: [&str; 3] = ["high_error_rate_or_time", "moderate_difficulty", "low_difficulty"];

impl NudgeType {
    pub fn of(difficulty: f64) -> Self {
        if difficulty > ASSIST_ABOVE {
            Self::Assist
        } else if difficulty > HELP_ABOVE {
            Self::Info
        } else {
            Self::Warning
        }
    }

    pub fn reason(self) -> &'static str {
        match self {
            Self::Assist => REASONS[0],
            Self::Info => REASONS[1],
            Self::Warning => REASONS[2],
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// True above [`HELP_ABOVE`].
    pub needs_help: bool,
    /// 0 to 1.
    pub difficulty_score: f64,
    /// [`NudgeType::of`] the difficulty.
    pub nudge_type: NudgeType,
    /// [`NudgeType::reason`] of the type.
    pub reason: String,
}

impl Assessment {
    /// Rejects answers that no correct model gives.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), BadAnswer> {
        check_unit_interval(self.difficulty_score, "the difficulty is not a number from 0 to 1")?;
        if self.nudge_type != NudgeType::of(self.difficulty_score) {
            return Err(BadAnswer("the nudge type does not fit the difficulty"));
        }
        if self.needs_help != (self.nudge_type != NudgeType::Warning) {
            return Err(BadAnswer("needs_help does not fit the difficulty"));
        }
        if self.reason != self.nudge_type.reason() {
            return Err(BadAnswer("the reason does not fit the nudge type"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_belong_to_the_class_below() {
        for (difficulty, nudge_type) in [
            (0.75, NudgeType::Info),
            (0.750_000_1, NudgeType::Assist),
            (0.40, NudgeType::Warning),
            (0.400_000_1, NudgeType::Info),
            (0.0, NudgeType::Warning),
            (1.0, NudgeType::Assist),
        ] {
            assert_eq!(NudgeType::of(difficulty), nudge_type, "{difficulty}");
        }
    }

    #[test]
    fn impossible_answers_are_refused() {
        let sound = Assessment {
            needs_help: true,
            difficulty_score: 0.9,
            nudge_type: NudgeType::Assist,
            reason: "high_error_rate_or_time".into(),
        };
        assert_eq!(sound.check(), Ok(()));
        let broken: [fn(&mut Assessment); 5] = [
            |answer| answer.difficulty_score = f64::NAN,
            |answer| answer.difficulty_score = -0.1,
            |answer| answer.nudge_type = NudgeType::Info,
            |answer| answer.needs_help = false,
            |answer| answer.reason = "moderate_difficulty".into(),
        ];
        for (index, harm) in broken.iter().enumerate() {
            let mut answer = sound.clone();
            harm(&mut answer);
            assert!(answer.check().is_err(), "case {index}");
        }
    }
}
