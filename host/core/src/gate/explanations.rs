//! Whether explanations add up.

use crate::gate::faults::{Faults, error_chain};
use crate::gate::report::CheckOutcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::scoring::{Kind, Scorer};

/// How far the sum may be from the predictor: rounding in sums over thousands of nodes, and far less than anyone sees.
const TOLERANCE: f64 = 1.0 / (1 << 20) as f64;

pub(super) fn check<K: Kind>(scorer: &Scorer<K>, requests: &[K::Request], report: &mut Report) -> Result<(), Refusal> {
    if scorer.identity().manifest.is_none() {
        return Ok(());
    }
    let mut faults = Faults::default();
    for request in requests {
        match scorer.explain(request) {
            Ok(Some(it)) => {
                let sum = it.contributions.iter().fold(it.base, |sum, part| sum + part);
                let adds_up = (sum - it.predictor).abs() <= TOLERANCE;
                if !adds_up {
                    faults.add(format!("{sum} instead of {} for {request:?}", it.predictor));
                }
            }
            Ok(None) => {}
            Err(error) => faults.add(error_chain(error)),
        }
    }
    if !faults.is_empty() {
        let detail = "base and contributions have to add up to the predictor within 2^-20";
        return Err(report.refuse("explained", format!("{detail}: {}", faults.summary(requests.len()))));
    }
    report.add("explained", Passed, format!("{} explanations add up to their predictors", requests.len()));
    Ok(())
}
