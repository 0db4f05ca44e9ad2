//! The coefficients of a nudge model. The medians of the screens are facts about screens, not weights.

use alloc::vec::Vec;

use super::{BACKS_MAX, EDGE_ASSIST, EDGE_INFO};
use crate::weights::{File, Kind, Malformed, built_in, encode, is_weight};

/// The first parameter of a weights file, that of the base. Those of [`super::FEATURES`] follow in their order.
const BASE: u16 = 1;

/// Weights of a logistic score, in logits. All except the base are non-negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<'a> {
    /// Semantic version of the model.
    pub version: &'a str,
    /// One sentence that describes this version.
    pub summary: &'a str,
    /// The sum when nothing has happened yet.
    pub base: f64,
    /// In the order of [`super::FEATURES`].
    pub coefficients: [f64; super::COUNT],
}

impl<'a> Weights<'a> {
    /// Parses a weights file.
    ///
    /// # Errors
    /// [`Malformed`], also for an unknown or missing parameter or values that are not
    /// [sound](Self::is_sound).
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let file = match File::parse(bytes, Kind::Nudge) {
            Ok(file) => file,
            Err(malformed) => return Err(malformed),
        };
        let mut values = [None; 1 + super::COUNT];
        let mut index = 0;
        while index < file.len() {
            let (parameter, value) = file.entry(index);
            let place = parameter.wrapping_sub(BASE) as usize;
            if place >= values.len() {
                return Err(Malformed::Unknown);
            }
            values[place] = Some(value);
            index += 1;
        }
        let [Some(base), Some(errors), Some(time), Some(backs), Some(stall)] = values else {
            return Err(Malformed::Missing);
        };
        let weights =
            Self { version: file.version, summary: file.summary, base, coefficients: [errors, time, backs, stall] };
        if weights.is_sound() { Ok(weights) } else { Err(Malformed::Unsound) }
    }

    /// The weights of a component; a malformed file fails its build.
    #[must_use]
    pub const fn built_in(bytes: &'a [u8]) -> Self {
        built_in(Self::parse(bytes))
    }

    #[must_use]
    pub fn to_file(&self) -> Vec<u8> {
        let values = core::iter::once(self.base).chain(self.coefficients);
        let entries: Vec<_> = (BASE..).zip(values).collect();
        encode(Kind::Nudge, self.version, self.summary, &entries)
    }

    /// Whether all values are plausible weights, no coefficient is negative, 2.24 times the median alone is
    /// no reason for a nudge, and any number of back navigations with at most that time stays below
    /// `assist`.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        let [_, time, backs, _] = self.coefficients;
        let mut sound =
            is_weight(self.base) && self.base + time < EDGE_INFO && self.base + time + backs * BACKS_MAX < EDGE_ASSIST;
        let mut index = 0;
        while index < self.coefficients.len() {
            let weight = self.coefficients[index];
            sound = sound && is_weight(weight) && weight >= 0.0;
            index += 1;
        }
        sound
    }
}
