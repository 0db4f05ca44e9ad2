//! The numbers of a risk model. Not for how features come about: that is [`super::features`].

use alloc::vec::Vec;

use super::Contribution;
use super::features::{COUNT, FEATURES};
use crate::weights::{File, Kind, Malformed, encode, is_weight};

/// Parameters of a weights file. A feature's is [`parameter::FEATURE`] plus its place in
/// [`FEATURES`]; a model uses only the features that its file names.
pub mod parameter {
    /// The linear predictor before any feature.
    pub const BASE: u16 = 1;
    /// Where low ends on the linear predictor.
    pub const LOW_ENDS: u16 = 2;
    /// Where medium ends.
    pub const MEDIUM_ENDS: u16 = 3;
    /// The first feature's coefficient.
    pub const FEATURE: u16 = 100;
}

/// Place of `new_beneficiary` among the features.
const NEW_BENEFICIARY: usize = 3;
/// Place of `beneficiary_saved`.
const BENEFICIARY_SAVED: usize = COUNT - 1;
/// How many times smaller saving has to be than a new beneficiary.
const SAVED_PARTS: f64 = 3.0;

/// Weights of an ordered logit with two cutpoints, in logits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<'a> {
    /// Semantic version of the model.
    pub version: &'a str,
    /// One sentence for people: what this version is.
    pub summary: &'a str,
    /// The linear predictor before any feature. Only its distance to the cutpoints matters; training
    /// puts the cutpoints at equal distances from zero.
    pub base: f64,
    /// Where low ends and where medium ends on the linear predictor; rising.
    pub cutpoints: [f64; 2],
    /// In the order of [`FEATURES`] and with the sign that it fixes; `None` where the model does not
    /// use the feature.
    pub coefficients: [Option<f64>; COUNT],
}

impl<'a> Weights<'a> {
    /// Reads a weights file.
    ///
    /// # Errors
    /// [`Malformed`]: besides the frame, an unknown parameter, a missing base or cutpoint, or values
    /// that are not [sound](Self::is_sound).
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

    /// True when every number is a plausible weight, the cutpoints rise, each coefficient has the sign
    /// that keeps the model monotone, and a saved beneficiary earns at most a third of what a new one
    /// costs: in a scam the victim saves the mule too.
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

    /// What each feature that the model uses adds to the predictor.
    pub(super) fn contributions(&self, values: &[f64; COUNT]) -> Vec<Contribution> {
        let contribution = |((feature, coefficient), value): ((&super::features::Feature, Option<f64>), &f64)| {
            Some(Contribution {
                feature: feature.name,
                // Adding zero turns the -0.0 of a lowering feature at zero into 0.0, which reads
                // better and survives JSON writers that drop the sign.
                weight: coefficient? * value + 0.0,
            })
        };
        FEATURES.iter().zip(self.coefficients).zip(values).filter_map(contribution).collect()
    }
}
