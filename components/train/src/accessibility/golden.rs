//! Golden cases of an accessibility model.

use caudal_model::accessibility::{Assessment, Weights, assess};
use serde::{Deserialize, Serialize};

use super::fit::NAME;
use super::generator::{CONFIDENCES, DATA_2, Facts};
use crate::age;
use crate::data::code;
use crate::golden::{Case, bits};
use crate::random::Random;

/// Cases from the generator, and as many with independent facts.
const EACH: usize = 160;

/// The answer of an accessibility model; numbers are bits.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    pub theme: String,
    pub screen_reader_mode: bool,
    pub font_scale: String,
    pub nudging_level: String,
    pub voice_feedback: bool,
    pub confidence: String,
    pub explanation: Vec<String>,
}

#[must_use]
pub fn expect(profile: &Assessment) -> Expect {
    Expect {
        theme: code(profile.theme),
        screen_reader_mode: profile.screen_reader_mode,
        font_scale: bits(profile.font_scale),
        nudging_level: code(profile.nudging_level),
        voice_feedback: profile.voice_feedback,
        confidence: bits(profile.confidence),
        explanation: profile.explanation.iter().map(|&sentence| sentence.to_owned()).collect(),
    }
}

/// A person with independent facts.
fn any(random: &mut Random) -> Facts {
    let confidence = random.pick(&CONFIDENCES);
    let age_range = random.pick(&age::ALL);
    let mut count = |usual: u64, edge: u32| match random.below(6) {
        0 => u32::MAX - random.below(2) as u32,
        1 | 2 => edge - 1 + random.below(3) as u32,
        _ => random.below(usual) as u32,
    };
    let (seconds, errors, help) = (count(200, 100), count(8, 3), count(6, 2));
    Facts {
        can_read_small_text: random.chance(0.7),
        uses_screen_reader: random.chance(0.2),
        feels_confident_with_apps: confidence,
        age_range,
        avg_time_per_screen_seconds: seconds,
        total_validation_errors: errors,
        requested_help_count: help,
    }
}

pub(crate) fn cases(weights: &Weights<'_>, random: &mut Random) -> Vec<Case<Facts, Expect>> {
    let mut facts: Vec<_> = DATA_2.generate(EACH, random).into_iter().map(|row| row.facts).collect();
    facts.extend((0..EACH).map(|_| any(random)));
    let case = |(index, facts): (usize, Facts)| Case {
        case: format!("{NAME}-{:03}", index + 1),
        request: facts,
        expect: expect(&assess(weights, &facts.request())),
    };
    facts.into_iter().enumerate().map(case).collect()
}
