//! Invariants over random requests: every answer is usable, and no score falls when a request gets worse.
//! This finds faults that affect one input in a thousand, which golden cases miss.

use std::fmt::Display;

use crate::gate::faults::{Faults, error_chain};
use crate::gate::report::CheckOutcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::scoring::{Kind, Random, Scorer};

/// Random requests, with some 15,000 worsened variants for risk. A fault that lowers one answer in a thousand then
/// shows in a dozen pairs, so the probability of missing it is below 1 in 100,000.
const REQUESTS: usize = 4000;

/// Requests per instance: their answers stay well below what one call may return.
pub(super) const BATCH: usize = 250;

/// The number of a random request, and how it was made worse.
pub(super) type Label = (usize, Option<&'static str>);

pub(super) fn check<K: Kind>(scorer: &Scorer<K>, report: &mut Report) -> Result<(), Refusal> {
    // Different in every examination, so that a component cannot be written to pass it.
    let seed = getrandom::u64().map_err(|error| report.refuse("random", error_chain(error)))?;
    let Some((labels, requests)) = random_requests::<K>(seed) else { return Ok(()) };
    let (mut unusable, mut falls) = (Faults::default(), Faults::default());
    let mut before = None;
    let count = requests.len();
    for (labels, requests) in labels.chunks(BATCH).zip(requests.chunks(BATCH)) {
        let answers = scorer.assess_batch(requests).map_err(|error| report.refuse("random", error_chain(error)))?;
        for ((at, worse), answer) in labels.iter().zip(answers) {
            let score = match answer {
                Ok(answer) => Some(K::score(&answer)),
                Err(error) => {
                    unusable.add(format!("request {at}: {}", error_chain(error)));
                    None
                }
            };
            match worse {
                None => before = score,
                Some(name) => note_fall(*at, name, before, score, &mut falls),
            }
        }
    }
    if !unusable.is_empty() {
        return Err(report.refuse("random", unusable.summary(count)));
    }
    report.add(
        "random",
        Passed,
        format!("{count} random requests (seed {seed:016x}) answered: in range, consistent, explained"),
    );
    if !falls.is_empty() {
        return Err(report.refuse("monotone", falls.summary(count - REQUESTS)));
    }
    report.add("monotone", Passed, format!("in {} pairs no score falls when something gets worse", count - REQUESTS));
    Ok(())
}

/// Each request is followed by its worsened variants. `None` for kinds without such invariants.
pub(super) fn random_requests<K: Kind>(seed: u64) -> Option<(Vec<Label>, Vec<K::Request>)> {
    let mut random = Random::new(seed);
    let (mut labels, mut requests) = (Vec::new(), Vec::new());
    for at in 0..REQUESTS {
        let request = K::random_request(&mut random)?;
        let mut worsened = K::worsened(&request, &mut random);
        // A variant that equals its request, such as a new device made new, tests nothing.
        worsened.retain(|(_, worse)| *worse != request);
        labels.push((at, None));
        requests.push(request);
        for (name, worse) in worsened {
            labels.push((at, Some(name)));
            requests.push(worse);
        }
    }
    Some((labels, requests))
}

fn note_fall(at: usize, name: impl Display, was: Option<f64>, is: Option<f64>, falls: &mut Faults) {
    if let (Some(was), Some(is)) = (was, is)
        && is < was
    {
        falls.add(format!("request {at} with {name} scores {is} instead of {was} or more"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::{Nudge, Risk};

    /// The number of pairs, each of which differs.
    fn pairs<K: Kind>() -> usize {
        let (labels, requests) = random_requests::<K>(1).unwrap();
        let mut original = 0;
        for (at, (_, worse)) in labels.iter().enumerate() {
            match worse {
                None => original = at,
                Some(name) => assert_ne!(requests[at], requests[original], "{name}"),
            }
        }
        labels.len() - REQUESTS
    }

    #[test]
    fn enough_pairs_differ_to_notice_a_rare_fall() {
        assert!(pairs::<Risk>() > 14_000, "{}", pairs::<Risk>());
        assert!(pairs::<Nudge>() > 9_000, "{}", pairs::<Nudge>());
    }
}
