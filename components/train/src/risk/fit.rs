//! Fits the ordered logit of a risk model by maximum likelihood.

use anyhow::{Context as _, Result, ensure};
use caudal_model::risk::Weights;
use caudal_model::risk::features::{COUNT, FEATURES, derive};

use super::generator::Row;
use crate::optimise::{Likelihood, Sign, log_sigmoid, maximise, rounded, sigmoid};

/// What a risk model is made of, besides what is fitted.
#[derive(Debug)]
pub struct Specification {
    /// For example `risk-2`.
    pub name: &'static str,
    /// Semantic version.
    pub version: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Features that are fitted.
    pub features: &'static [&'static str],
    /// Features whose coefficient, in logits, is policy: the data say nothing about them.
    pub policy: &'static [(&'static str, f64)],
}

/// The specification's baseline.
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

/// The model in force.
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
    // A third of what a new beneficiary weighs at most: in a scam the victim saves the mule too.
    policy: &[("beneficiary_saved", -0.5)],
};

/// Coefficients before those of the features: the base and half the distance of the cutpoints.
const BEFORE_FEATURES: usize = 2;

struct OrderedLogit<'a> {
    features: Vec<Vec<f64>>,
    rows: &'a [Row],
}

impl Likelihood for OrderedLogit<'_> {
    fn value(&self, coefficients: &[f64]) -> (f64, Vec<f64>) {
        let (base, half) = (coefficients[0], coefficients[1]);
        let mut total = 0.0;
        let mut slope = vec![0.0; coefficients.len()];
        for (features, row) in self.features.iter().zip(self.rows) {
            let mut sum = base;
            for (coefficient, value) in coefficients[BEFORE_FEATURES..].iter().zip(features) {
                sum += coefficient * value;
            }
            // P(at least medium) and P(high).
            let (above_low, high) = (sigmoid(sum + half), sigmoid(sum - half));
            let (log, by_sum, by_half) = match row.severity {
                0 => (log_sigmoid(-(sum + half)), -above_low, -above_low),
                // The difference of the two, as a product that loses no digits.
                1 => (
                    log_sigmoid(sum + half) + log_sigmoid(half - sum) + libm::log(-libm::expm1(-2.0 * half)),
                    1.0 - above_low - high,
                    1.0 - above_low + high + 2.0 / libm::expm1(2.0 * half),
                ),
                _ => (log_sigmoid(sum - half), 1.0 - high, high - 1.0),
            };
            total += log;
            slope[0] += by_sum;
            slope[1] += by_half;
            for (slope, value) in slope[BEFORE_FEATURES..].iter_mut().zip(features) {
                *slope += by_sum * value;
            }
        }
        let rows = self.rows.len() as f64;
        slope.iter_mut().for_each(|slope| *slope /= rows);
        (total / rows, slope)
    }
}

/// The weights of a model on these rows, rounded to what a card prints.
///
/// # Errors
/// When the fit does not settle, or ends in weights that a component would refuse.
pub fn fit(model: &Specification, rows: &[Row]) -> Result<Weights<'static>> {
    ensure!(!rows.is_empty(), "there are no rows to fit to");
    let places = model.features.iter().map(|name| place(name)).collect::<Result<Vec<_>>>()?;
    let features = rows.iter().map(|row| {
        let all = derive(&row.request);
        places.iter().map(|&place| all[place]).collect()
    });
    let mut signs = vec![Sign::Free, Sign::Positive];
    signs.extend(places.iter().map(|&place| if FEATURES[place].raises { Sign::Positive } else { Sign::Negative }));
    let fitted = maximise(&OrderedLogit { features: features.collect(), rows }, &signs)?;

    let mut coefficients = [None; COUNT];
    for (&place, &coefficient) in places.iter().zip(&fitted.coefficients[BEFORE_FEATURES..]) {
        coefficients[place] = Some(rounded(coefficient));
    }
    for &(name, coefficient) in model.policy {
        coefficients[place(name)?] = Some(coefficient);
    }
    let half = rounded(fitted.coefficients[1]);
    let weights = Weights {
        version: model.version,
        summary: model.summary,
        base: rounded(fitted.coefficients[0]),
        cutpoints: [-half, half],
        coefficients,
    };
    ensure!(weights.is_sound(), "the fit of {} broke a sign", model.name);
    Ok(weights)
}

fn place(name: &str) -> Result<usize> {
    FEATURES.iter().position(|feature| feature.name == name).with_context(|| format!("there is no feature {name}"))
}
