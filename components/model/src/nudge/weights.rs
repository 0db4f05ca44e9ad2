//! The numbers of a nudge model. Not for the screens' medians: those are facts about screens.

use alloc::vec::Vec;

use super::{BACKS_SATURATE, EDGE_ASSIST, EDGE_INFO};
use crate::weights::{File, Kind, Malformed, encode, is_weight};

/// Parameters of a weights file, in the order of [`Weights`].
pub mod parameter {
    /// The sum before anything was seen.
    pub const BASE: u16 = 1;
    /// For validation errors.
    pub const ERRORS: u16 = 2;
    /// For time.
    pub const EXCESSIVE_TIME: u16 = 3;
    /// For back navigations.
    pub const BACKS: u16 = 4;
    /// For excessive time early in a flow.
    pub const STALL: u16 = 5;
}

/// Weights of a logistic score, in logits. All but the base are zero or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<'a> {
    /// Semantic version of the model.
    pub version: &'a str,
    /// One sentence for people: what this version is.
    pub summary: &'a str,
    /// The sum before anything was seen.
    pub base: f64,
    /// For each of [`super::features`], in their order.
    pub coefficients: [f64; super::COUNT],
}

impl<'a> Weights<'a> {
    /// Reads a weights file.
    ///
    /// # Errors
    /// [`Malformed`]: besides the frame, an unknown or missing parameter, or values that are not
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
            let place = parameter.wrapping_sub(parameter::BASE) as usize;
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
        let values = core::iter::once(self.base).chain(self.coefficients);
        let entries: Vec<_> = (parameter::BASE..).zip(values).collect();
        encode(Kind::Nudge, self.version, self.summary, &entries)
    }

    /// True when every number is a plausible weight, no coefficient is negative, time of exactly 2.24
    /// times the median asks for no help by itself, and going back, however often and with whatever
    /// time up to that, never for much.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        let [_, time, backs, _] = self.coefficients;
        let mut sound = is_weight(self.base)
            && self.base + time < EDGE_INFO
            && self.base + time + backs * BACKS_SATURATE < EDGE_ASSIST;
        let mut index = 0;
        while index < self.coefficients.len() {
            let weight = self.coefficients[index];
            sound = sound && is_weight(weight) && weight >= 0.0;
            index += 1;
        }
        sound
    }
}
