//! The numbers of the risk model. Not for how features come about: that is [`super::features`].

use alloc::vec::Vec;

use super::Contribution;
use super::features::{COUNT, FEATURES};

/// Weights of an ordered logit with two cutpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The linear predictor before any feature. Only its distance to the cutpoints matters.
    pub base: f64,
    /// One for each feature, in the order of [`FEATURES`] and with the sign that it fixes.
    pub coefficients: [f64; COUNT],
    /// Where low ends and where medium ends on the linear predictor; rising.
    pub cutpoints: [f64; 2],
    /// Spread of the logistic noise around the predictor; above zero.
    pub scale: f64,
}

impl Weights {
    /// Weights set by hand from the process that generates the synthetic data.
    ///
    /// The coefficients are that process's own. The cutpoints are the 34 % and 74 % quantiles of
    /// its noisy predictor, so that low, medium and high are 34, 40 and 26 of 100 transfers. The
    /// base is zero: a transfer without any feature lies where the process puts it.
    pub const HAND_SET: Self = Self {
        base: 0.0,
        coefficients: [
            2.6,   // amount_over_average
            1.9,   // amount_over_maximum
            0.4,   // amount_much_higher_than_average
            1.0,   // new_beneficiary
            0.8,   // unusual_time
            1.2,   // new_device
            1.0,   // location_changed
            0.4,   // low_history
            0.9,   // new_device_and_new_beneficiary
            0.7,   // new_device_and_location_changed
            1.0,   // new_beneficiary_and_amount_over_average
            -0.56, // transactions_to_beneficiary
            -0.24, // past_transactions
            // beneficiary_saved: not in the data. Small beside new_beneficiary, because in a scam
            // the victim saves the mule too.
            -0.3,
        ],
        cutpoints: [-0.445, 2.251],
        scale: 0.55,
    };

    /// True when every number is finite, the scale is above zero, the cutpoints rise and each
    /// coefficient has the sign that keeps the model monotone.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let [medium, high] = self.cutpoints;
        let signs = FEATURES
            .iter()
            .zip(self.coefficients)
            .all(|(feature, weight)| weight.is_finite() && if feature.raises { weight >= 0.0 } else { weight <= 0.0 });
        signs
            && self.base.is_finite()
            && medium.is_finite()
            && high.is_finite()
            && medium < high
            && self.scale.is_finite()
            && self.scale > 0.0
    }

    /// What each feature adds to the predictor.
    pub(super) fn contributions(&self, values: &[f64; COUNT]) -> Vec<Contribution> {
        FEATURES
            .iter()
            .zip(self.coefficients)
            .zip(values)
            .map(|((feature, coefficient), value)| Contribution {
                feature: feature.name,
                // Adding zero turns the -0.0 of a lowering feature at zero into 0.0, which reads
                // better and survives JSON writers that drop the sign.
                weight: coefficient * value + 0.0,
            })
            .collect()
    }
}
