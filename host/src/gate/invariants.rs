//! Invariants over random requests: every answer is usable, and no score falls when a request gets worse.
//! This finds faults that affect one input in a thousand, which golden cases miss.

use std::fmt::Display;

use crate::gate::faults::{Faults, error_chain};
use crate::gate::report::Outcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::scoring::{Kind, Random, Scorer};

/// Random requests. With their worsened variants there are about ten thousand, so the probability
/// of missing a fault that one input in a thousand triggers is below 1 in 10,000.
const REQUESTS: usize = 1500;

/// Requests per instance: their answers stay well below what one call may return.
const BATCH: usize = 250;

pub(super) fn check<K: Kind>(scorer: &Scorer<K>, report: &mut Report) -> Result<(), Refusal> {
    // Different in every examination, so that a component cannot be written to pass it.
    let seed = getrandom::u64().map_err(|error| report.refuse("random", error_chain(error)))?;
    let mut random = Random::new(seed);
    let mut labels = Vec::new();
    let mut requests = Vec::new();
    for at in 0..REQUESTS {
        let Some(request) = K::random_request(&mut random) else { return Ok(()) };
        let worsened = K::worsened(&request, &mut random);
        labels.push((at, None));
        requests.push(request);
        for (name, request) in worsened {
            labels.push((at, Some(name)));
            requests.push(request);
        }
    }
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

fn note_fall(at: usize, name: impl Display, was: Option<f64>, is: Option<f64>, falls: &mut Faults) {
    if let (Some(was), Some(is)) = (was, is)
        && is < was
    {
        falls.add(format!("request {at} with {name} scores {is} instead of {was} or more"));
    }
}
