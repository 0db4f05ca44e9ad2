//! Golden cases of an accessibility model.

use caudal_model::accessibility::{Assessment, NudgingLevel, Request, Theme, Weights, assess};
use serde::{Deserialize, Serialize};

use super::generator::{Row, Sure, generate};
use crate::age::AgeRange;
use crate::golden::{Case, bits};
use crate::random::Random;

/// Cases as people happen, and as they do not.
const EACH: usize = 160;

/// The body of `POST /ai/accessibility`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the HTTP API")]
pub struct Facts {
    pub can_read_small_text: bool,
    pub uses_screen_reader: bool,
    pub feels_confident_with_apps: Sure,
    pub age_range: AgeRange,
    pub avg_time_per_screen_seconds: u32,
    pub total_validation_errors: u32,
    pub requested_help_count: u32,
}

impl From<&Row> for Facts {
    fn from(row: &Row) -> Self {
        Self {
            can_read_small_text: row.can_read_small_text,
            uses_screen_reader: row.uses_screen_reader,
            feels_confident_with_apps: row.feels_confident_with_apps,
            age_range: row.age_range,
            avg_time_per_screen_seconds: row.avg_time_per_screen_seconds,
            total_validation_errors: row.total_validation_errors,
            requested_help_count: row.requested_help_count,
        }
    }
}

impl Facts {
    /// The model's request, in Spanish.
    #[must_use]
    pub fn request(&self) -> Request {
        let row = Row {
            can_read_small_text: self.can_read_small_text,
            uses_screen_reader: self.uses_screen_reader,
            feels_confident_with_apps: self.feels_confident_with_apps,
            age_range: self.age_range,
            avg_time_per_screen_seconds: self.avg_time_per_screen_seconds,
            total_validation_errors: self.total_validation_errors,
            requested_help_count: self.requested_help_count,
            kept: super::generator::Theme::StandardAccessible,
        };
        row.request()
    }
}

/// What an accessibility model answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the HTTP API; numbers are bits")]
pub struct Expect {
    pub theme: String,
    pub screen_reader_mode: bool,
    pub font_scale: String,
    pub nudging_level: String,
    pub voice_feedback: bool,
    pub confidence: String,
    pub explanation: Vec<String>,
}

/// Code of a theme.
#[must_use]
pub fn theme_code(theme: Theme) -> &'static str {
    match theme {
        Theme::StandardAccessible => "standard-accessible",
        Theme::LargeTextHighContrast => "large-text-high-contrast",
        Theme::VoiceAssisted => "voice-assisted",
    }
}

/// Code of a nudging level.
#[must_use]
pub fn nudging_code(level: NudgingLevel) -> &'static str {
    match level {
        NudgingLevel::Medium => "medium",
        NudgingLevel::High => "high",
    }
}

/// What a profile is as a case.
#[must_use]
pub fn expect(profile: &Assessment) -> Expect {
    Expect {
        theme: theme_code(profile.theme).to_owned(),
        screen_reader_mode: profile.screen_reader_mode,
        font_scale: bits(profile.font_scale),
        nudging_level: nudging_code(profile.nudging_level).to_owned(),
        voice_feedback: profile.voice_feedback,
        confidence: bits(profile.confidence),
        explanation: profile.explanation.iter().map(|&sentence| sentence.to_owned()).collect(),
    }
}

/// A person of facts that have nothing to do with each other.
fn any(random: &mut Random) -> Facts {
    let sure = random.pick(&[Sure::Low, Sure::Medium, Sure::High]);
    let age_range = random.pick(&AgeRange::ALL);
    let mut count = |usual: u64, edge: u32| match random.below(6) {
        0 => u32::MAX - random.below(2) as u32,
        1 | 2 => edge - 1 + random.below(3) as u32,
        _ => random.below(usual) as u32,
    };
    let (seconds, errors, help) = (count(200, 100), count(8, 3), count(6, 2));
    Facts {
        can_read_small_text: random.chance(0.7),
        uses_screen_reader: random.chance(0.2),
        feels_confident_with_apps: sure,
        age_range,
        avg_time_per_screen_seconds: seconds,
        total_validation_errors: errors,
        requested_help_count: help,
    }
}

/// The cases of a model.
#[must_use]
pub fn cases(name: &str, weights: &Weights<'_>, random: &mut Random) -> Vec<Case<Facts, Expect>> {
    let mut facts: Vec<_> = generate(EACH, random).iter().map(Facts::from).collect();
    facts.extend((0..EACH).map(|_| any(random)));
    let case = |(index, facts): (usize, Facts)| Case {
        case: format!("{name}-{:03}", index + 1),
        request: facts,
        expect: expect(&assess(weights, &facts.request())),
    };
    facts.into_iter().enumerate().map(case).collect()
}
