//! Maximum likelihood with signs: every coefficient keeps the side of zero that it is given.
//!
//! A signed coefficient is `sign * ln(1 + exp(parameter))`, which turns the bounded problem into a free
//! one for limited-memory BFGS: far from zero it moves with its parameter, and zero it can approach
//! and not reach. Not for models: a [`Likelihood`] is given.

use anyhow::{Context as _, Result, bail};
use argmin::core::{CostFunction, Executor, Gradient, State as _, TerminationReason, TerminationStatus};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

/// Corrections that L-BFGS remembers.
const MEMORY: usize = 12;
/// Far more iterations than any of our problems needs; reaching it is a failure.
const ITERATIONS_MAX: u64 = 500;
/// The mean log-likelihood is flat: the largest slope left, in logits per row.
const GRADIENT_TOLERANCE: f64 = 1e-9;
/// The mean log-likelihood no longer moves.
const COST_TOLERANCE: f64 = 1e-15;
/// Where a signed coefficient starts: small enough to leave either way.
const START: f64 = 0.3;

/// Which side of zero a coefficient keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Any value.
    Free,
    /// Above zero.
    Positive,
    /// Below zero.
    Negative,
}

/// What is maximised.
pub trait Likelihood {
    /// The mean log-likelihood of a row, and its slope in each coefficient.
    fn value(&self, coefficients: &[f64]) -> (f64, Vec<f64>);
}

/// What a fit ended with.
#[derive(Debug)]
pub struct Fitted {
    /// The coefficients.
    pub coefficients: Vec<f64>,
    /// Mean log-likelihood of a row.
    pub log_likelihood: f64,
}

struct Problem<'a, L> {
    likelihood: &'a L,
    signs: &'a [Sign],
}

impl<L> Problem<'_, L> {
    fn coefficients(&self, parameters: &[f64]) -> Vec<f64> {
        let coefficient = |(&parameter, sign): (&f64, &Sign)| match sign {
            Sign::Free => parameter,
            Sign::Positive => -log_sigmoid(-parameter),
            Sign::Negative => log_sigmoid(-parameter),
        };
        parameters.iter().zip(self.signs).map(coefficient).collect()
    }
}

impl<L: Likelihood> CostFunction for Problem<'_, L> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, parameters: &Vec<f64>) -> Result<f64> {
        Ok(-self.likelihood.value(&self.coefficients(parameters)).0)
    }
}

impl<L: Likelihood> Gradient for Problem<'_, L> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, parameters: &Vec<f64>) -> Result<Vec<f64>> {
        let (_, slope) = self.likelihood.value(&self.coefficients(parameters));
        let chain = |((slope, &parameter), sign): ((f64, &f64), &Sign)| match sign {
            Sign::Free => -slope,
            Sign::Positive => -slope * sigmoid(parameter),
            Sign::Negative => slope * sigmoid(parameter),
        };
        Ok(slope.into_iter().zip(parameters).zip(self.signs).map(chain).collect())
    }
}

/// The coefficients that make the data most likely, given the side of zero of each.
///
/// # Errors
/// When the search does not settle.
pub fn maximise(likelihood: &impl Likelihood, signs: &[Sign]) -> Result<Fitted> {
    let start =
        signs.iter().map(|sign| if *sign == Sign::Free { 0.0 } else { libm::log(libm::expm1(START)) }).collect();
    let problem = Problem { likelihood, signs };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
        .with_tolerance_grad(GRADIENT_TOLERANCE)?
        .with_tolerance_cost(COST_TOLERANCE)?;
    let run = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(ITERATIONS_MAX)).run()?;
    let state = run.state();
    let settled = matches!(
        state.get_termination_status(),
        TerminationStatus::Terminated(TerminationReason::SolverConverged | TerminationReason::TargetCostReached)
    );
    if !settled {
        bail!("the fit stopped after {} iterations: {}", state.get_iter(), state.get_termination_status());
    }
    let parameters = state.get_best_param().context("the fit has no result")?;
    let coefficients = Problem { likelihood, signs }.coefficients(parameters);
    Ok(Fitted { coefficients, log_likelihood: -state.get_best_cost() })
}

/// The logistic regression of yes and no on features. A constant is a feature that is always 1.
pub struct Logistic<'a> {
    /// As many in each row as there are coefficients.
    pub features: &'a [Vec<f64>],
    /// What each row's sum starts at.
    pub offsets: &'a [f64],
    /// What is explained.
    pub outcomes: &'a [bool],
}

impl Likelihood for Logistic<'_> {
    fn value(&self, coefficients: &[f64]) -> (f64, Vec<f64>) {
        let mut total = 0.0;
        let mut slope = vec![0.0; coefficients.len()];
        for ((features, &offset), &outcome) in self.features.iter().zip(self.offsets).zip(self.outcomes) {
            let terms = coefficients.iter().zip(features);
            let sum = terms.fold(offset, |sum, (coefficient, value)| sum + coefficient * value);
            total += log_sigmoid(if outcome { sum } else { -sum });
            let error = f64::from(u8::from(outcome)) - sigmoid(sum);
            for (slope, value) in slope.iter_mut().zip(features) {
                *slope += error * value;
            }
        }
        let rows = self.outcomes.len() as f64;
        slope.iter_mut().for_each(|slope| *slope /= rows);
        (total / rows, slope)
    }
}

/// The logistic curve, quick and accurate; the serving one is monotone besides.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// `ln(sigmoid(x))` without losing digits at either end.
#[must_use]
pub fn log_sigmoid(x: f64) -> f64 {
    if x < 0.0 { x - libm::log1p(libm::exp(x)) } else { -libm::log1p(libm::exp(-x)) }
}

/// To six decimals: digits below are noise of the search, and this is what a card can print.
#[must_use]
pub fn rounded(value: f64) -> f64 {
    const MILLIONTHS: f64 = 1e6;
    libm::round(value * MILLIONTHS) / MILLIONTHS
}
