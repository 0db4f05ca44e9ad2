//! The numbers of an accessibility model. Not for the rules: answers decide those alone.

use alloc::vec::Vec;

use super::{AgeRange, Signs};
use crate::weights::{File, Kind, Malformed, encode, is_weight};

/// Parameters of a weights file. A lean's are its first one and the four after it, in the order of
/// [`Lean`].
pub mod parameter {
    /// For the voice-assisted theme, given a screen reader.
    pub const SCREEN_READER: u16 = 1;
    /// Added when the person reads small text too; zero or less.
    pub const READS_SMALL_TEXT_TOO: u16 = 2;
    /// First of the lean towards large text of people who find small text hard.
    pub const SMALL_TEXT: u16 = 10;
    /// First of the lean towards large text of people who say that small text is fine.
    pub const LEANING: u16 = 20;
}

/// Numbers in a [`Lean`].
const LEAN: usize = 6;

/// How age and signs lean towards large text, in logits. All but the base are zero or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lean {
    /// Up to 50 and without any sign.
    pub base: f64,
    /// Over 50.
    pub over_50: f64,
    /// Over 60, besides.
    pub over_60: f64,
    /// Slow.
    pub slow: f64,
    /// Validation errors.
    pub errors: f64,
    /// Asked for help.
    pub help: f64,
}

impl Lean {
    /// A lean from its numbers in the order of the fields.
    #[must_use]
    pub const fn new(values: [f64; LEAN]) -> Self {
        let [base, over_50, over_60, slow, errors, help] = values;
        Self { base, over_50, over_60, slow, errors, help }
    }

    /// The numbers in the order of the fields.
    #[must_use]
    pub const fn values(&self) -> [f64; LEAN] {
        [self.base, self.over_50, self.over_60, self.slow, self.errors, self.help]
    }

    /// The sum for a person: above zero, large text is the more probable.
    #[must_use]
    pub fn sum(&self, age_range: AgeRange, signs: Signs) -> f64 {
        let values = self.values();
        let mut sum = self.base;
        for (value, holds) in values[1..].iter().zip(Self::features(age_range, signs)) {
            if holds {
                sum += value;
            }
        }
        sum
    }

    /// Which of the numbers after the base count for a person.
    #[must_use]
    pub fn features(age_range: AgeRange, signs: Signs) -> [bool; LEAN - 1] {
        [age_range >= AgeRange::From51To60, age_range >= AgeRange::Over60, signs.slow, signs.errors, signs.help]
    }

    /// Plausible weights, and no age or sign leans away from large text.
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
    /// One sentence for people: what this version is.
    pub summary: &'a str,
    /// That a person with a screen reader keeps the voice-assisted theme.
    pub screen_reader: f64,
    /// Added for one who reads small text too; zero or less.
    pub reads_small_text_too: f64,
    /// That a person who finds small text hard keeps the large one.
    pub small_text: Lean,
    /// That a person who says that small text is fine would keep the large one all the same.
    pub leaning: Lean,
}

impl<'a> Weights<'a> {
    /// Reads a weights file.
    ///
    /// # Errors
    /// [`Malformed`]: besides the frame, an unknown or missing parameter, or values that are not
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
        // Each entry has a place of its own, so as many entries as places fill them all.
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

    /// Reads a weights file while a component is compiled: a bad one does not build.
    ///
    /// # Panics
    /// Where [`Self::parse`] refuses the file.
    #[must_use]
    pub const fn built_in(bytes: &'a [u8]) -> Self {
        match Self::parse(bytes) {
            Ok(weights) => weights,
            Err(_) => panic!("not a sound weights file of this kind"),
        }
    }

    /// The weights file of these weights.
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

    /// True when every number is a plausible weight and none leans the wrong way, and no hint outvotes an answer
    /// where it may not: up to 50 signs never tip to large text, and over 50 neither age alone nor
    /// one sign does.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        let Lean { base, over_50, over_60, slow, errors, help } = self.leaning;
        let one_sign = slow.max(errors).max(help);
        is_weight(self.screen_reader)
            && is_weight(self.reads_small_text_too)
            && self.reads_small_text_too <= 0.0
            && self.small_text.is_sound()
            && self.leaning.is_sound()
            && base + slow + errors + help <= 0.0
            && base + over_50 + over_60 + one_sign <= 0.0
    }
}
