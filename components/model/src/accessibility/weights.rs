//! The coefficients of an accessibility model. The rules on answers have none.

use alloc::vec::Vec;

use super::{AgeRange, Signs};
use crate::weights::{File, Kind, Malformed, built_in, encode, is_weight};

/// Parameters of a weights file. A [`Lean`] takes six consecutive ones, in the order of its fields.
pub mod parameter {
    pub const SCREEN_READER: u16 = 1;
    pub const READS_SMALL_TEXT_TOO: u16 = 2;
    /// First parameter of [`super::Weights::small_text`].
    pub const SMALL_TEXT: u16 = 10;
    /// First parameter of [`super::Weights::leaning`].
    pub const LEANING: u16 = 20;
}

/// Fields of a [`Lean`].
const LEAN: usize = 6;

/// How age and signs of difficulty lean towards large text, in logits. All fields except the base are
/// non-negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lean {
    /// Age up to 50, no signs.
    pub base: f64,
    pub over_50: f64,
    /// Added to `over_50`.
    pub over_60: f64,
    pub slow: f64,
    pub errors: f64,
    pub help: f64,
}

impl Lean {
    /// From values in the order of the fields.
    #[must_use]
    pub const fn new(values: [f64; LEAN]) -> Self {
        let [base, over_50, over_60, slow, errors, help] = values;
        Self { base, over_50, over_60, slow, errors, help }
    }

    /// The values in the order of the fields.
    #[must_use]
    pub const fn values(&self) -> [f64; LEAN] {
        [self.base, self.over_50, self.over_60, self.slow, self.errors, self.help]
    }

    /// The sum for a person; if positive, large text is more likely than not.
    #[must_use]
    pub fn sum(&self, age_range: AgeRange, signs: Signs) -> f64 {
        self.sum_of(Self::features(age_range, signs))
    }

    const fn sum_of(&self, holds: [bool; LEAN - 1]) -> f64 {
        let values = self.values();
        let mut sum = self.base;
        let mut index = 0;
        while index < holds.len() {
            if holds[index] {
                sum += values[index + 1];
            }
            index += 1;
        }
        sum
    }

    /// Which of the fields after the base apply to a person.
    #[must_use]
    pub fn features(age_range: AgeRange, signs: Signs) -> [bool; LEAN - 1] {
        [age_range >= AgeRange::From51To60, age_range >= AgeRange::Over60, signs.slow, signs.errors, signs.help]
    }

    /// Whether large text is never less likely than with `other`, at an age over 50, whatever the signs.
    const fn is_at_least(&self, other: &Self) -> bool {
        let mut holds = true;
        let mut case = 0_u8;
        while case < 16 {
            let features = [true, case & 1 != 0, case & 2 != 0, case & 4 != 0, case & 8 != 0];
            holds = holds && self.sum_of(features) >= other.sum_of(features);
            case += 1;
        }
        holds
    }

    /// Whether all values are plausible, and no age or sign leans away from large text.
    const fn is_sound(&self) -> bool {
        let values = self.values();
        let mut sound = is_weight(self.base);
        let mut index = 1;
        while index < values.len() {
            sound = sound && is_weight(values[index]) && values[index] >= 0.0;
            index += 1;
        }
        sound
    }
}

/// Weights of the three confidences, in logits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<'a> {
    /// Semantic version of the model.
    pub version: &'a str,
    /// One sentence that describes this version.
    pub summary: &'a str,
    /// For keeping the voice-assisted theme, given a screen reader.
    pub screen_reader: f64,
    /// Added if the person also reads small text well; never positive.
    pub reads_small_text_too: f64,
    /// For keeping large text, for people who find small text hard to read.
    pub small_text: Lean,
    /// For keeping large text, for people who say that they read small text well.
    pub leaning: Lean,
}

impl<'a> Weights<'a> {
    /// Parses a weights file.
    ///
    /// # Errors
    /// [`Malformed`], also for an unknown or missing parameter or values that are not
    /// [sound](Self::is_sound).
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let file = match File::parse(bytes, Kind::Accessibility) {
            Ok(file) => file,
            Err(malformed) => return Err(malformed),
        };
        let (mut screen_reader, mut reads_too) = (f64::NAN, f64::NAN);
        let (mut small_text, mut leaning) = ([f64::NAN; LEAN], [f64::NAN; LEAN]);
        let mut index = 0;
        while index < file.len() {
            let (parameter, value) = file.entry(index);
            let small_text_at = parameter.wrapping_sub(parameter::SMALL_TEXT) as usize;
            let leaning_at = parameter.wrapping_sub(parameter::LEANING) as usize;
            match parameter {
                parameter::SCREEN_READER => screen_reader = value,
                parameter::READS_SMALL_TEXT_TOO => reads_too = value,
                _ if small_text_at < LEAN => small_text[small_text_at] = value,
                _ if leaning_at < LEAN => leaning[leaning_at] = value,
                _ => return Err(Malformed::Unknown),
            }
            index += 1;
        }
        // Parameters are distinct, so this many of them fill every value.
        if file.len() != 2 + 2 * LEAN {
            return Err(Malformed::Missing);
        }
        let weights = Self {
            version: file.version,
            summary: file.summary,
            screen_reader,
            reads_small_text_too: reads_too,
            small_text: Lean::new(small_text),
            leaning: Lean::new(leaning),
        };
        if weights.is_sound() { Ok(weights) } else { Err(Malformed::Unsound) }
    }

    /// The weights of a component; a malformed file fails its build.
    #[must_use]
    pub const fn built_in(bytes: &'a [u8]) -> Self {
        built_in(Self::parse(bytes))
    }

    #[must_use]
    pub fn to_file(&self) -> Vec<u8> {
        let mut entries = Vec::from([
            (parameter::SCREEN_READER, self.screen_reader),
            (parameter::READS_SMALL_TEXT_TOO, self.reads_small_text_too),
        ]);
        entries.extend((parameter::SMALL_TEXT..).zip(self.small_text.values()));
        entries.extend((parameter::LEANING..).zip(self.leaning.values()));
        encode(Kind::Accessibility, self.version, self.summary, &entries)
    }

    /// Whether all values are plausible and none leans the wrong way. Up to the age of 50, the standard theme is at
    /// least as likely as large text for who reads small text well, whatever the signs. Above it, they are never
    /// surer of large text than who does not read it well.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        let Lean { base, slow, errors, help, .. } = self.leaning;
        is_weight(self.screen_reader)
            && is_weight(self.reads_small_text_too)
            && self.reads_small_text_too <= 0.0
            && self.small_text.is_sound()
            && self.leaning.is_sound()
            && base + slow + errors + help <= 0.0
            && self.small_text.is_at_least(&self.leaning)
    }
}
