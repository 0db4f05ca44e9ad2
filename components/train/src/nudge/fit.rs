//! Fits the logistic curve of the nudge model.

use anyhow::{Result, ensure};
use caudal_model::nudge::{EDGE_INFO, Weights, features};

use super::generator::Row;
use crate::optimise::{Logistic, Sign, maximise, rounded};

/// For example `nudge-1`.
pub const NAME: &str = "nudge-1";
const VERSION: &str = "1.0.0";
const SUMMARY: &str =
    "A logistic score that rises with validation errors, time over the median of the screen, and going back.";

/// Exported coefficients are multiples of it.
const STEP: f64 = 1e-6;

/// Weights, and what the promise about time costs them.
#[derive(Debug)]
pub struct Fit {
    /// To be exported.
    pub weights: Weights<'static>,
    /// Mean log-likelihood of a row with the promise kept.
    pub tied: f64,
    /// Without it.
    pub free: f64,
}

/// Fits to rows.
///
/// The promise: time of exactly 2.24 times the median gives exactly the difficulty above which help
/// is offered, so that "excessive time", as the specification has it, is where time alone starts to
/// count as needing help. It ties the weight of time to the constant, and leaves four numbers free.
///
/// # Errors
/// When the fit does not settle, or ends in weights that a component would refuse.
pub fn fit(rows: &[Row]) -> Result<Fit> {
    ensure!(!rows.is_empty(), "there are no rows to fit to");
    let outcomes: Vec<_> = rows.iter().map(|row| row.struggling).collect();
    let (mut free, mut tied, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let [errors, time, backs, stall] = features(&row.request());
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
    // Down, so that the edge stays where it is promised.
    let time = libm::floor((EDGE_INFO - base) / STEP) * STEP;
    let weights = Weights {
        version: VERSION,
        summary: SUMMARY,
        base,
        coefficients: [rounded(errors), rounded(time), rounded(backs), rounded(stall)],
    };
    ensure!(weights.is_sound(), "the fit broke a promise: {weights:?}");
    Ok(Fit { weights, tied: fitted.log_likelihood, free: untied.log_likelihood })
}
