//! People's answers, their use of the app, and the theme they keep.
//!
//! A person of some age uses a screen reader or not, finds small text hard or not, and uses the app with
//! more or less difficulty. After a while they keep one theme. The probability of each theme depends on
//! the answers first, and then on age and difficulty through a logistic function with known coefficients,
//! so the best possible result is known as well.
//!
//! Everything here is made up, based on two tendencies in the literature: small text gets harder to
//! read with age, and some people who would benefit from larger text say that they read small text well. A
//! [`Process`] never changes: another one gets a new version.

use caudal_model::accessibility::{AgeRange, AppConfidence, Language, Request, Theme};
use serde::{Deserialize, Serialize};

use crate::optimise::sigmoid;
use crate::random::Random;
use crate::{age, data};

/// A version of the data. Versions have the same people, who keep different themes.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Its name in cards.
    pub version: &'static str,
    /// For keeping large text, among people who say that they read small text well, in logits: constant, over
    /// 50, over 60, slow, errors, help.
    fine: [f64; 6],
}

/// People who say that they read small text well seldom keep large text, at any age.
pub const DATA_1: Process = Process { version: "accessibility data v1", fine: [-2.4, 1.25, 0.2, 0.72, 0.70, 0.75] };

/// Takes the specification at its word, the only source there is: over 50, people lean towards large text, so
/// more than half of them keep it, also of those who say that they read small text well. Signs of difficulty
/// matter less, since they have other causes than the size of the text.
pub const DATA_2: Process = Process { version: "accessibility data v2", fine: [-2.4, 2.85, 0.12, 0.42, 0.40, 0.45] };

/// Share with a screen reader, by age. Far more than among real people, so that there is enough to learn from.
const SCREEN_READER: [f64; 4] = [0.06, 0.06, 0.08, 0.10];
/// Share who find small text hard to read: by age, and with a screen reader.
const SMALL_TEXT_HARD: [f64; 4] = [0.06, 0.12, 0.36, 0.50];
const SMALL_TEXT_HARD_WITH_READER: f64 = 0.85;
/// Shares of low, medium and high confidence with apps, by age.
const CONFIDENCE: [[f64; 3]; 4] = [[0.08, 0.32, 0.60], [0.12, 0.40, 0.48], [0.25, 0.45, 0.30], [0.40, 0.42, 0.18]];
/// Share with difficulties, by age.
const DIFFICULTY: [f64; 4] = [0.15, 0.18, 0.28, 0.36];
/// Seconds per screen: median, standard deviation of the logarithm, and the factor for difficulties.
const SECONDS: (f64, f64, f64) = (45.0, 0.45, 1.9);
/// Time relative to the median, by age.
const PACE: [f64; 4] = [1.0, 1.06, 1.20, 1.55];
/// Mean errors and mean requests for help, without and with difficulties.
const ERRORS: [f64; 2] = [0.8, 3.5];
const HELP: [f64; 2] = [0.3, 2.0];

/// For keeping the voice-assisted theme with a screen reader, in logits: constant, reads small text well.
const VOICE: [f64; 2] = [2.9, -0.9];
/// For keeping large text when small text is hard to read, in logits: constant, over 50, over 60, slow,
/// errors, help.
const HARD: [f64; 6] = [2.2, 0.3, 0.3, 0.1, 0.1, 0.1];

/// Thresholds of the signs of difficulty, as the model defines them.
const SLOW_ABOVE: u32 = 100;
const ERRORS_FROM: u32 = 3;
const HELP_FROM: u32 = 2;

/// One person.
pub type Row = data::Row<Facts, Label>;

/// The body of `POST /ai/accessibility`, without the language.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub can_read_small_text: bool,
    pub uses_screen_reader: bool,
    pub feels_confident_with_apps: AppConfidence,
    pub age_range: AgeRange,
    pub avg_time_per_screen_seconds: u32,
    pub total_validation_errors: u32,
    pub requested_help_count: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Label {
    /// The theme that the person keeps.
    pub kept: Theme,
}

impl Facts {
    /// The request, in Spanish and with observed behaviour.
    #[must_use]
    pub fn request(&self) -> Request {
        Request {
            can_read_small_text: self.can_read_small_text,
            uses_screen_reader: self.uses_screen_reader,
            feels_confident_with_apps: self.feels_confident_with_apps,
            age_range: self.age_range,
            avg_time_per_screen_seconds: self.avg_time_per_screen_seconds,
            total_validation_errors: self.total_validation_errors,
            requested_help_count: self.requested_help_count,
            behaviour_observed: true,
            language: Language::EsMx,
        }
    }
}

/// In ascending order.
pub(super) const CONFIDENCES: [AppConfidence; 3] = [AppConfidence::Low, AppConfidence::Medium, AppConfidence::High];

impl Process {
    #[must_use]
    pub fn generate(&self, rows: usize, random: &mut Random) -> Vec<Row> {
        (0..rows).map(|_| self.row(random)).collect()
    }

    fn row(&self, random: &mut Random) -> Row {
        let facts = person(random);
        let (theme, other, probability) = self.choice(&facts);
        let kept = if random.chance(probability) { theme } else { other };
        Row { facts, label: Label { kept } }
    }

    /// The two themes that a person may keep, and the probability of the first.
    fn choice(&self, facts: &Facts) -> (Theme, Theme, f64) {
        if facts.uses_screen_reader {
            let sum = VOICE[0] + if facts.can_read_small_text { VOICE[1] } else { 0.0 };
            let other =
                if facts.can_read_small_text { Theme::StandardAccessible } else { Theme::LargeTextHighContrast };
            return (Theme::VoiceAssisted, other, sigmoid(sum));
        }
        let curve = if facts.can_read_small_text { self.fine } else { HARD };
        let holds = [
            true,
            facts.age_range >= AgeRange::From51To60,
            facts.age_range >= AgeRange::Over60,
            facts.avg_time_per_screen_seconds > SLOW_ABOVE,
            facts.total_validation_errors >= ERRORS_FROM,
            facts.requested_help_count >= HELP_FROM,
        ];
        let sum: f64 = curve.iter().zip(holds).filter(|(_, holds)| *holds).map(|(weight, _)| weight).sum();
        (Theme::LargeTextHighContrast, Theme::StandardAccessible, sigmoid(sum))
    }

    /// The probability that a person keeps a theme, in closed form.
    pub(crate) fn posterior(&self, facts: &Facts, theme: Theme) -> f64 {
        let (first, other, probability) = self.choice(facts);
        if theme == first {
            probability
        } else if theme == other {
            1.0 - probability
        } else {
            0.0
        }
    }
}

fn person(random: &mut Random) -> Facts {
    let age_range = age::draw(random);
    let age = age_range as usize;
    let uses_screen_reader = random.chance(SCREEN_READER[age]);
    let hard = if uses_screen_reader { SMALL_TEXT_HARD_WITH_READER } else { SMALL_TEXT_HARD[age] };
    let can_read_small_text = !random.chance(hard);
    let feels_confident_with_apps = CONFIDENCES[random.weighted(&CONFIDENCE[age])];
    let difficulty = usize::from(random.chance(DIFFICULTY[age]));
    let (median, spread, slower) = SECONDS;
    let seconds = median * PACE[age] * random.lognormal(0.0, spread) * if difficulty == 1 { slower } else { 1.0 };
    Facts {
        can_read_small_text,
        uses_screen_reader,
        feels_confident_with_apps,
        age_range,
        avg_time_per_screen_seconds: libm::round(seconds) as u32,
        total_validation_errors: random.geometric(1.0 / (1.0 + ERRORS[difficulty])),
        requested_help_count: random.geometric(1.0 / (1.0 + HELP[difficulty])),
    }
}
