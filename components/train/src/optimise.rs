//! Maximum likelihood under sign constraints.
//!
//! A constrained coefficient is `sign * ln(1 + exp(parameter))`, which makes the problem unconstrained
//! for L-BFGS. It approaches zero but does not reach it.

use anyhow::{Context as _, Result, bail};
use argmin::core::{CostFunction, Executor, Gradient, State as _, TerminationReason, TerminationStatus};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

/// Correction pairs that L-BFGS keeps.
const MEMORY: usize = 12;
/// Far more iterations than our problems need; reaching it is an error.
const ITERATIONS_MAX: u64 = 500;
/// Norm of the gradient of the mean log-likelihood at convergence.
const GRADIENT_TOLERANCE: f64 = 1e-9;
/// Change of the mean log-likelihood at convergence.
const COST_TOLERANCE: f64 = 1e-15;
/// Initial value of constrained coefficients.
const START: f64 = 0.3;

/// Constraint on a coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Free,
    Positive,
    Negative,
}

pub(crate) trait Likelihood {
    /// The mean log-likelihood of a row, and its gradient.
    fn value(&self, coefficients: &[f64]) -> (f64, Vec<f64>);
}

#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) coefficients: Vec<f64>,
    /// Mean over rows.
    pub(crate) log_likelihood: f64,
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
        let (_, gradient) = self.likelihood.value(&self.coefficients(parameters));
        let chain = |((gradient, &parameter), sign): ((f64, &f64), &Sign)| match sign {
            Sign::Free => -gradient,
            Sign::Positive => -gradient * sigmoid(parameter),
            Sign::Negative => gradient * sigmoid(parameter),
        };
        Ok(gradient.into_iter().zip(parameters).zip(self.signs).map(chain).collect())
    }
}

/// The coefficients that maximise the likelihood under the constraints.
///
/// # Errors
/// If the search does not converge.
pub(crate) fn maximise(likelihood: &impl Likelihood, signs: &[Sign]) -> Result<Fitted> {
    let start =
        signs.iter().map(|sign| if *sign == Sign::Free { 0.0 } else { libm::log(libm::expm1(START)) }).collect();
    let problem = Problem { likelihood, signs };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
        .with_tolerance_grad(GRADIENT_TOLERANCE)?
        .with_tolerance_cost(COST_TOLERANCE)?;
    let run = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(ITERATIONS_MAX)).run()?;
    let state = run.state();
    let converged = matches!(
        state.get_termination_status(),
        TerminationStatus::Terminated(TerminationReason::SolverConverged | TerminationReason::TargetCostReached)
    );
    if !converged {
        bail!("the fit did not converge in {} iterations: {}", state.get_iter(), state.get_termination_status());
    }
    let parameters = state.get_best_param().context("the fit has no result")?;
    let coefficients = Problem { likelihood, signs }.coefficients(parameters);
    Ok(Fitted { coefficients, log_likelihood: -state.get_best_cost() })
}

/// Logistic regression. The intercept is a feature that is always 1.
pub(crate) struct Logistic<'a> {
    pub(crate) features: &'a [Vec<f64>],
    /// Added to the linear predictor of each row.
    pub(crate) offsets: &'a [f64],
    pub(crate) outcomes: &'a [bool],
}

impl Likelihood for Logistic<'_> {
    fn value(&self, coefficients: &[f64]) -> (f64, Vec<f64>) {
        let mut total = 0.0;
        let mut gradient = vec![0.0; coefficients.len()];
        for ((features, &offset), &outcome) in self.features.iter().zip(self.offsets).zip(self.outcomes) {
            let terms = coefficients.iter().zip(features);
            let sum = terms.fold(offset, |sum, (coefficient, value)| sum + coefficient * value);
            total += log_sigmoid(if outcome { sum } else { -sum });
            let error = f64::from(outcome) - sigmoid(sum);
            for (gradient, value) in gradient.iter_mut().zip(features) {
                *gradient += error * value;
            }
        }
        let rows = self.outcomes.len() as f64;
        gradient.iter_mut().for_each(|gradient| *gradient /= rows);
        (total / rows, gradient)
    }
}

/// The logistic function. Unlike that of `caudal_model::curve`, it is not exactly monotone, but faster.
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// `ln(sigmoid(x))`, accurate at both ends.
pub(crate) fn log_sigmoid(x: f64) -> f64 {
    if x < 0.0 { x - libm::log1p(libm::exp(x)) } else { -libm::log1p(libm::exp(-x)) }
}

/// Rounded to six decimals: further digits are noise from the search.
pub(crate) fn rounded(value: f64) -> f64 {
    const MILLIONTHS: f64 = 1e6;
    libm::round(value * MILLIONTHS) / MILLIONTHS
}
