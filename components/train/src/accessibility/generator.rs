//! `accessibility data v1`: people's answers, how the app went, and which theme they keep.
//!
//! A person of some age uses a screen reader or not, finds small text hard or not, and goes through
//! the app with more or less trouble. After a while they keep one theme. How probable each theme is
//! depends on the answers first, and on age and trouble through a logistic curve whose numbers are
//! known, so that the best that can be expected is too.
//!
//! Everything here is made up, with two tendencies in mind that the literature reports: small text
//! gets harder with age, and some people who would be helped by larger text say that small text is
//! fine. Another version of this file is another version of the data.

use anyhow::Result;
use caudal_model::accessibility::{self as model, Confidence, Language, Request};
use serde::{Deserialize, Serialize};

use crate::age::AgeRange;
use crate::optimise::sigmoid;
use crate::random::Random;

/// Names this process in cards and data files.
pub const VERSION: &str = "accessibility data v1";

/// Uses a screen reader, by age. Far more than among real people, so that there is something to learn.
const SCREEN_READER: [f64; 4] = [0.06, 0.06, 0.08, 0.10];
/// Finds small text hard, by age; and if there is a screen reader.
const SMALL_TEXT_HARD: [f64; 4] = [0.06, 0.12, 0.36, 0.50];
const SMALL_TEXT_HARD_WITH_READER: f64 = 0.85;
/// Feels unsure, somewhat sure, sure with apps, by age.
const SURE: [[f64; 3]; 4] = [[0.08, 0.32, 0.60], [0.12, 0.40, 0.48], [0.25, 0.45, 0.30], [0.40, 0.42, 0.18]];
/// Trouble with the app, by age.
const TROUBLE: [f64; 4] = [0.15, 0.18, 0.28, 0.36];
/// Median seconds a screen, its spread, and what trouble makes of it.
const SECONDS: (f64, f64, f64) = (45.0, 0.45, 1.9);
/// Pace of each age range.
const PACE: [f64; 4] = [1.0, 1.06, 1.20, 1.55];
/// Mean errors and mean requests for help, without trouble and with it.
const ERRORS: [f64; 2] = [0.8, 3.5];
const HELP: [f64; 2] = [0.3, 2.0];

/// Keeps the voice-assisted theme, with a screen reader: in logits, and what reading small text adds.
const VOICE: [f64; 2] = [2.9, -0.9];
/// Keeps the large theme, finding small text hard: in logits, then over 50, over 60, slow, errors, help.
const HARD: [f64; 6] = [2.2, 0.3, 0.3, 0.1, 0.1, 0.1];
/// Would keep the large theme although small text is fine: the same.
const FINE: [f64; 6] = [-2.4, 1.25, 0.2, 0.72, 0.70, 0.75];

/// Behaviour that is a sign of difficulty, as the specification of the model has it.
const SLOW_ABOVE: u32 = 100;
const ERRORS_FROM: u32 = 3;
const HELP_FROM: u32 = 2;

/// The themes of the HTTP API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the codes of the HTTP API")]
pub enum Theme {
    StandardAccessible,
    LargeTextHighContrast,
    VoiceAssisted,
}

/// How sure somebody feels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the codes of the HTTP API")]
pub enum Sure {
    Low,
    Medium,
    High,
}

/// One person.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the first fields are those of the HTTP API")]
pub struct Row {
    pub can_read_small_text: bool,
    pub uses_screen_reader: bool,
    pub feels_confident_with_apps: Sure,
    pub age_range: AgeRange,
    pub avg_time_per_screen_seconds: u32,
    pub total_validation_errors: u32,
    pub requested_help_count: u32,
    /// The theme that the person keeps.
    pub kept: Theme,
}

impl Row {
    /// What a model is asked.
    #[must_use]
    pub fn request(&self) -> Request {
        Request {
            can_read_small_text: self.can_read_small_text,
            uses_screen_reader: self.uses_screen_reader,
            feels_confident_with_apps: match self.feels_confident_with_apps {
                Sure::Low => Confidence::Low,
                Sure::Medium => Confidence::Medium,
                Sure::High => Confidence::High,
            },
            age_range: match self.age_range {
                AgeRange::From18To30 => model::AgeRange::From18To30,
                AgeRange::From31To50 => model::AgeRange::From31To50,
                AgeRange::From51To60 => model::AgeRange::From51To60,
                AgeRange::Over60 => model::AgeRange::Over60,
            },
            avg_time_per_screen_seconds: self.avg_time_per_screen_seconds,
            total_validation_errors: self.total_validation_errors,
            requested_help_count: self.requested_help_count,
            behaviour_observed: true,
            language: Language::EsMx,
        }
    }

    /// A row as it was read.
    ///
    /// # Errors
    /// None: every combination of answers is valid.
    pub fn checked(self) -> Result<Self> {
        Ok(self)
    }
}

/// One person after another.
#[must_use]
pub fn generate(rows: usize, random: &mut Random) -> Vec<Row> {
    (0..rows).map(|_| row(random)).collect()
}

fn row(random: &mut Random) -> Row {
    let age_range = AgeRange::drawn(random);
    let age = age_range as usize;
    let uses_screen_reader = random.chance(SCREEN_READER[age]);
    let hard = if uses_screen_reader { SMALL_TEXT_HARD_WITH_READER } else { SMALL_TEXT_HARD[age] };
    let can_read_small_text = !random.chance(hard);
    let feels_confident_with_apps = [Sure::Low, Sure::Medium, Sure::High][random.weighted(&SURE[age])];
    let trouble = usize::from(random.chance(TROUBLE[age]));
    let (median, spread, slower) = SECONDS;
    let seconds = median * PACE[age] * random.lognormal(0.0, spread) * if trouble == 1 { slower } else { 1.0 };
    let mut row = Row {
        can_read_small_text,
        uses_screen_reader,
        feels_confident_with_apps,
        age_range,
        avg_time_per_screen_seconds: libm::round(seconds) as u32,
        total_validation_errors: random.geometric(1.0 / (1.0 + ERRORS[trouble])),
        requested_help_count: random.geometric(1.0 / (1.0 + HELP[trouble])),
        kept: Theme::StandardAccessible,
    };
    let (theme, other, probability) = best(&row);
    row.kept = if random.chance(probability) { theme } else { other };
    row
}

/// The theme that the person's answers speak of, the other one that they may keep, and how probable
/// the first is.
#[must_use]
pub fn best(row: &Row) -> (Theme, Theme, f64) {
    if row.uses_screen_reader {
        let sum = VOICE[0] + if row.can_read_small_text { VOICE[1] } else { 0.0 };
        let other = if row.can_read_small_text { Theme::StandardAccessible } else { Theme::LargeTextHighContrast };
        return (Theme::VoiceAssisted, other, sigmoid(sum));
    }
    let curve = if row.can_read_small_text { FINE } else { HARD };
    let holds = [
        true,
        row.age_range >= AgeRange::From51To60,
        row.age_range >= AgeRange::Over60,
        row.avg_time_per_screen_seconds > SLOW_ABOVE,
        row.total_validation_errors >= ERRORS_FROM,
        row.requested_help_count >= HELP_FROM,
    ];
    let sum: f64 = curve.iter().zip(holds).filter(|(_, holds)| *holds).map(|(weight, _)| weight).sum();
    (Theme::LargeTextHighContrast, Theme::StandardAccessible, sigmoid(sum))
}

/// The probability that a person keeps a theme, in closed form.
#[must_use]
pub fn posterior(row: &Row, theme: Theme) -> f64 {
    let (first, other, probability) = best(row);
    if theme == first {
        probability
    } else if theme == other {
        1.0 - probability
    } else {
        0.0
    }
}
