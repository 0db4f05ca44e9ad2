//! Fits the nudge model.

use anyhow::{Result, ensure};
use caudal_model::nudge::{EDGE_INFO, Weights, features};

use super::generator::Row;
use crate::optimise::{Logistic, Sign, maximise, rounded};

pub(crate) const NAME: &str = "nudge-1";
const VERSION: &str = "1.0.0";
const SUMMARY: &str =
    "A logistic score that rises with validation errors, time over the median of the screen, and going back.";

/// Exported coefficients are multiples of this.
const STEP: f64 = 1e-6;

/// The result of a fit.
#[derive(Debug)]
pub struct Fit {
    pub weights: Weights<'static>,
    /// Mean log-likelihood of a row with the constraint on time.
    pub tied: f64,
    /// The same without the constraint.
    pub free: f64,
}

/// Fits the weights under a constraint on time: 2.24 times the median alone gives exactly the difficulty
/// above which help is offered, so that time alone is a reason for help when it is "excessive" as the
/// specification defines it. This ties the coefficient of time to the constant and leaves four free
/// coefficients.
///
/// # Errors
/// If there are no rows, the fit does not converge, or a component would reject the weights.
pub fn fit(rows: &[Row]) -> Result<Fit> {
    ensure!(!rows.is_empty(), "there are no rows");
    let outcomes: Vec<_> = rows.iter().map(|row| row.label.struggling).collect();
    let (mut free, mut tied, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let [errors, time, backs, stall] = features(&row.facts.request());
        free.push(vec![1.0, errors, time, backs, stall]);
        tied.push(vec![1.0 - time, errors, backs, stall]);
        offsets.push(EDGE_INFO * time);
    }
    let none = vec![0.0; rows.len()];
    let mut signs = vec![Sign::Positive; 5];
    signs[0] = Sign::Free;
    let untied = maximise(&Logistic { features: &free, offsets: &none, outcomes: &outcomes }, &signs)?;
    let fitted = maximise(&Logistic { features: &tied, offsets: &offsets, outcomes: &outcomes }, &signs[..4])?;
    let [base, errors, backs, stall] = fitted.coefficients[..] else { unreachable!("four coefficients were fitted") };
    let base = rounded(base);
    // Rounded down, so that 2.24 times the median is not above the threshold.
    let time = libm::floor((EDGE_INFO - base) / STEP) * STEP;
    let weights = Weights {
        version: VERSION,
        summary: SUMMARY,
        base,
        coefficients: [rounded(errors), rounded(time), rounded(backs), rounded(stall)],
    };
    ensure!(weights.is_sound(), "the fit violates a guarantee: {weights:?}");
    Ok(Fit { weights, tied: fitted.log_likelihood, free: untied.log_likelihood })
}
