//! The coefficients of a risk model.

use alloc::vec::Vec;

use super::Contribution;
use super::features::{COUNT, FEATURES};
use crate::weights::{File, Kind, Malformed, built_in, encode, is_weight};

/// Parameters of a weights file. That of a feature is [`parameter::FEATURE`] plus its index in
/// [`FEATURES`]; a model uses only the features that its file names.
pub mod parameter {
    pub const BASE: u16 = 1;
    /// Cutpoint between low and medium.
    pub const LOW_ENDS: u16 = 2;
    /// Cutpoint between medium and high.
    pub const MEDIUM_ENDS: u16 = 3;
    /// Coefficient of the first feature.
    pub const FEATURE: u16 = 100;
}

/// Index of `new_beneficiary`.
const NEW_BENEFICIARY: usize = 3;
/// Index of `beneficiary_saved`.
const BENEFICIARY_SAVED: usize = COUNT - 1;
/// A saved beneficiary takes off at most one third of what a new one adds.
const SAVED_PARTS: f64 = 3.0;

/// Weights of an ordered logit with two cutpoints, in logits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<'a> {
    /// Semantic version of the model.
    pub version: &'a str,
    /// One sentence that describes this version.
    pub summary: &'a str,
    /// The linear predictor before any feature. Only its distance from the cutpoints matters; training
    /// places the cutpoints symmetrically around zero.
    pub base: f64,
    /// Between low and medium, and between medium and high; increasing.
    pub cutpoints: [f64; 2],
    /// In the order of [`FEATURES`], with the sign it prescribes; `None` for features that the model
    /// does not use.
    pub coefficients: [Option<f64>; COUNT],
}

impl<'a> Weights<'a> {
    /// Parses a weights file.
    ///
    /// # Errors
    /// [`Malformed`], also for an unknown parameter, a missing base or cutpoint, or values that are not
    /// [sound](Self::is_sound).
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let file = match File::parse(bytes, Kind::Risk) {
            Ok(file) => file,
            Err(malformed) => return Err(malformed),
        };
        let (mut base, mut low_ends, mut medium_ends) = (None, None, None);
        let mut coefficients = [None; COUNT];
        let mut index = 0;
        while index < file.len() {
            let (parameter, value) = file.entry(index);
            match parameter {
                parameter::BASE => base = Some(value),
                parameter::LOW_ENDS => low_ends = Some(value),
                parameter::MEDIUM_ENDS => medium_ends = Some(value),
                _ => {
                    let feature = parameter.wrapping_sub(parameter::FEATURE) as usize;
                    if feature >= COUNT {
                        return Err(Malformed::Unknown);
                    }
                    coefficients[feature] = Some(value);
                }
            }
            index += 1;
        }
        let (Some(base), Some(low_ends), Some(medium_ends)) = (base, low_ends, medium_ends) else {
            return Err(Malformed::Missing);
        };
        let weights = Self {
            version: file.version,
            summary: file.summary,
            base,
            cutpoints: [low_ends, medium_ends],
            coefficients,
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
        let [low_ends, medium_ends] = self.cutpoints;
        let mut entries = Vec::from([
            (parameter::BASE, self.base),
            (parameter::LOW_ENDS, low_ends),
            (parameter::MEDIUM_ENDS, medium_ends),
        ]);
        let features = (parameter::FEATURE..).zip(self.coefficients);
        entries.extend(features.filter_map(|(parameter, coefficient)| Some((parameter, coefficient?))));
        encode(Kind::Risk, self.version, self.summary, &entries)
    }

    /// Whether all values are plausible weights, the cutpoints increase, each coefficient has the sign
    /// that keeps the model monotone, and a saved beneficiary takes off at most a third of what a new one
    /// adds: in a scam the victim saves the mule too.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        let [low_ends, medium_ends] = self.cutpoints;
        let mut sound = is_weight(self.base) && is_weight(low_ends) && is_weight(medium_ends) && low_ends < medium_ends;
        let mut index = 0;
        while index < COUNT {
            if let Some(weight) = self.coefficients[index] {
                let signed = if FEATURES[index].raises { weight >= 0.0 } else { weight <= 0.0 };
                sound = sound && is_weight(weight) && signed;
            }
            index += 1;
        }
        let new = if let Some(weight) = self.coefficients[NEW_BENEFICIARY] { weight } else { 0.0 };
        let saved = if let Some(weight) = self.coefficients[BENEFICIARY_SAVED] { weight } else { 0.0 };
        sound && -SAVED_PARTS * saved <= new
    }

    pub(super) fn contributions(&self, values: &[f64; COUNT]) -> Vec<Contribution> {
        let contribution = |((feature, coefficient), value): ((&super::features::Feature, Option<f64>), &f64)| {
            Some(Contribution {
                feature: feature.name,
                // Adding zero turns -0.0 into 0.0, whose sign no JSON writer can drop.
                weight: coefficient? * value + 0.0,
            })
        };
        let mut contributions = Vec::with_capacity(COUNT);
        contributions.extend(FEATURES.iter().zip(self.coefficients).zip(values).filter_map(contribution));
        contributions
    }
}
