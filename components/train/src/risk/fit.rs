//! Fits the ordered logit of a risk model by maximum likelihood.

use anyhow::{Context as _, Result, ensure};
use caudal_model::risk::features::{COUNT, FEATURES, derive};
use caudal_model::risk::{Level, Weights};

use super::generator::Row;
use crate::optimise::{Likelihood, Sign, log_sigmoid, maximise, rounded, sigmoid};

/// A risk model before it is fitted.
#[derive(Debug)]
pub struct Specification {
    /// For example `risk-2`.
    pub name: &'static str,
    pub version: &'static str,
    pub summary: &'static str,
    /// Features with fitted coefficients.
    pub features: &'static [&'static str],
    /// Features with coefficients set by policy, in logits, because the data contain nothing about them.
    pub policy: &'static [(&'static str, f64)],
}

/// The baseline of the specification.
pub const RISK_1: Specification = Specification {
    name: "risk-1",
    version: "1.0.0",
    summary: "An ordered logit on the six risk factors of the specification.",
    features: &[
        "amount_much_higher_than_average",
        "new_beneficiary",
        "unusual_time",
        "new_device",
        "location_changed",
        "low_history",
    ],
    policy: &[],
};

/// The default model.
pub const RISK_2: Specification = Specification {
    name: "risk-2",
    version: "2.0.0",
    summary: "An ordered logit on how far an amount, a payee, a device, a place and an hour are from what is usual.",
    features: &[
        "amount_over_average",
        "amount_over_maximum",
        "amount_much_higher_than_average",
        "new_beneficiary",
        "unusual_time",
        "late_or_early",
        "new_device",
        "location_changed",
        "low_history",
        "new_device_and_new_beneficiary",
        "new_device_and_location_changed",
        "new_beneficiary_and_amount_over_average",
        "transactions_to_beneficiary",
        "past_transactions",
    ],
    // At most a third of the coefficient of a new beneficiary: in a scam the victim saves the mule too.
    policy: &[("beneficiary_saved", -0.5)],
};

/// Coefficients before those of the features: the base and half the distance between the cutpoints.
const BEFORE_FEATURES: usize = 2;

struct OrderedLogit<'a> {
    features: Vec<Vec<f64>>,
    rows: &'a [Row],
}

impl Likelihood for OrderedLogit<'_> {
    fn value(&self, coefficients: &[f64]) -> (f64, Vec<f64>) {
        let (base, half) = (coefficients[0], coefficients[1]);
        let mut total = 0.0;
        let mut gradient = vec![0.0; coefficients.len()];
        for (features, row) in self.features.iter().zip(self.rows) {
            let mut sum = base;
            for (coefficient, value) in coefficients[BEFORE_FEATURES..].iter().zip(features) {
                sum += coefficient * value;
            }
            // P(at least medium) and P(high).
            let (above_low, high) = (sigmoid(sum + half), sigmoid(sum - half));
            let (log, by_sum, by_half) = match row.label.severity {
                Level::Low => (log_sigmoid(-(sum + half)), -above_low, -above_low),
                // The difference of the two as a product, which loses no digits.
                Level::Medium => (
                    log_sigmoid(sum + half) + log_sigmoid(half - sum) + libm::log(-libm::expm1(-2.0 * half)),
                    1.0 - above_low - high,
                    1.0 - above_low + high + 2.0 / libm::expm1(2.0 * half),
                ),
                Level::High => (log_sigmoid(sum - half), 1.0 - high, high - 1.0),
            };
            total += log;
            gradient[0] += by_sum;
            gradient[1] += by_half;
            for (gradient, value) in gradient[BEFORE_FEATURES..].iter_mut().zip(features) {
                *gradient += by_sum * value;
            }
        }
        let rows = self.rows.len() as f64;
        gradient.iter_mut().for_each(|gradient| *gradient /= rows);
        (total / rows, gradient)
    }
}

/// Fits a model.
///
/// # Errors
/// If there are no rows, the fit does not converge, or a component would reject the weights.
pub fn fit(model: &Specification, rows: &[Row]) -> Result<Weights<'static>> {
    ensure!(!rows.is_empty(), "there are no rows");
    let indices = model.features.iter().map(|name| index(name)).collect::<Result<Vec<_>>>()?;
    let features = rows.iter().map(|row| {
        let all = derive(&row.facts);
        indices.iter().map(|&index| all[index]).collect()
    });
    let mut signs = vec![Sign::Free, Sign::Positive];
    signs.extend(indices.iter().map(|&index| if FEATURES[index].raises { Sign::Positive } else { Sign::Negative }));
    let fitted = maximise(&OrderedLogit { features: features.collect(), rows }, &signs)?;

    let mut coefficients = [None; COUNT];
    for (&index, &coefficient) in indices.iter().zip(&fitted.coefficients[BEFORE_FEATURES..]) {
        coefficients[index] = Some(rounded(coefficient));
    }
    for &(name, coefficient) in model.policy {
        coefficients[index(name)?] = Some(coefficient);
    }
    let half = rounded(fitted.coefficients[1]);
    let weights = Weights {
        version: model.version,
        summary: model.summary,
        base: rounded(fitted.coefficients[0]),
        cutpoints: [-half, half],
        coefficients,
    };
    ensure!(weights.is_sound(), "the fit of {} violates a guarantee", model.name);
    Ok(weights)
}

fn index(name: &str) -> Result<usize> {
    FEATURES.iter().position(|feature| feature.name == name).with_context(|| format!("there is no feature {name}"))
}
