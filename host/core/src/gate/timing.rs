//! Measures the time of a call.

use std::time::{Duration, Instant};

use crate::domain::model::PolicyClass;
use crate::gate::report::{CheckOutcome, Refusal, Report};

const CALLS: usize = 200;

/// Longest median for a class: half the deadline in service.
fn median_max(class: PolicyClass) -> Duration {
    match class {
        PolicyClass::Pure => Duration::from_millis(5),
        PolicyClass::DenyAll => Duration::from_millis(125),
    }
}

/// Times calls with these inputs, repeating them as often as needed.
pub(super) fn check<T>(
    inputs: &[T],
    class: PolicyClass,
    mut call: impl FnMut(&T),
    report: &mut Report,
) -> Result<(), Refusal> {
    let mut times = Vec::with_capacity(CALLS);
    for input in inputs.iter().cycle().take(CALLS) {
        let start = Instant::now();
        call(input);
        times.push(start.elapsed());
    }
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let (median, p99, max) = (at(50), at(99), median_max(class));
    let detail = format!("{} µs a call, {} µs for the slowest of a hundred", median.as_micros(), p99.as_micros());
    // The median decides: a busy machine slows down one call in a hundred.
    if median > max {
        return Err(report.refuse("time", format!("{detail}; at most {} µs are allowed", max.as_micros())));
    }
    report.add("time", CheckOutcome::Passed, detail);
    Ok(())
}
