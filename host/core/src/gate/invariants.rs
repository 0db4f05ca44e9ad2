//! Invariants over random requests: every answer is usable, and no score falls when a request gets worse.
//! This finds faults that affect one input in a thousand, which golden cases miss.

use crate::domain::fact::manifest::Manifest;
use crate::gate::faults::{Faults, error_chain};
use crate::gate::report::CheckOutcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::scoring::{Kind, Random, Scorer};
use crate::wasm::ScoreError;

/// Of a request with many facts: the scores and the advice have to fit into the same refusal.
const REQUEST_CHARS_MAX: usize = 400;

/// Random requests, with some 15,000 worsened variants for risk. A fault that lowers one answer in a thousand then
/// shows in a dozen pairs, so the probability of missing it is below 1 in 100,000.
const REQUESTS: usize = 4000;

/// What counts as a fall in contract 2, whose models are sums of thousands of terms. Those of contract 1 are exact.
const FALL_MIN: f64 = 1.0 / (1 << 30) as f64;

/// Requests per instance: their answers stay well below what one call may return.
pub(super) const BATCH: usize = 250;

/// The number of a random request, and how it was made worse.
pub(super) type Label = (usize, Option<String>);

pub(super) fn check<K: Kind>(scorer: &Scorer<K>, report: &mut Report) -> Result<(), Refusal> {
    // Different in every examination, so that a component cannot be written to pass it.
    let seed = getrandom::u64().map_err(|error| report.refuse("random", error_chain(error)))?;
    let manifest = scorer.identity().manifest.as_deref();
    let Some((labels, requests)) = random_requests::<K>(seed, manifest) else { return Ok(()) };
    let (mut unusable, mut falls) = (Faults::default(), Faults::default());
    let tolerance = if manifest.is_some() { FALL_MIN } else { 0.0 };
    let mut before = None;
    let count = requests.len();
    for (labels, requests) in labels.chunks(BATCH).zip(requests.chunks(BATCH)) {
        let answers = scorer.assess_batch(requests).map_err(|error| report.refuse("random", error_chain(error)))?;
        for (((at, worse), request), answer) in labels.iter().zip(requests).zip(answers) {
            let score = match answer {
                Ok(answer) => Some(K::score(&answer)),
                Err(ScoreError::Abstained(_)) => None,
                Err(error) => {
                    unusable.add(format!("request {at}: {}", error_chain(error)));
                    None
                }
            };
            match worse {
                None => before = score.map(|score| (request, score)),
                Some(change) => note_fall::<K>((change, manifest), before, (score, tolerance), &mut falls),
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
        let detail = format!("{}. Train with monotone constraints", falls.summary(count - REQUESTS));
        return Err(report.refuse("monotone", detail));
    }
    report.add("monotone", Passed, format!("in {} pairs no score falls when something gets worse", count - REQUESTS));
    Ok(())
}

/// Each request is followed by its worsened variants. `None` for kinds without such invariants.
pub(super) fn random_requests<K: Kind>(
    seed: u64,
    manifest: Option<&Manifest>,
) -> Option<(Vec<Label>, Vec<K::Request>)> {
    let mut random = Random::new(seed);
    let (mut labels, mut requests) = (Vec::new(), Vec::new());
    for at in 0..REQUESTS {
        let request = K::random_request(&mut random)?;
        let mut worsened = K::worsened(&request, manifest, &mut random);
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

/// Quotes the first pair only, because it is long.
fn note_fall<K: Kind>(
    (change, manifest): (&str, Option<&Manifest>),
    was: Option<(&K::Request, f64)>,
    (is, tolerance): (Option<f64>, f64),
    falls: &mut Faults,
) {
    if let (Some((request, was)), Some(is)) = (was, is)
        && is < was - tolerance
    {
        falls.add_brief(|| {
            let request: String = K::shown(request, manifest).chars().take(REQUEST_CHARS_MAX).collect();
            format!("{request} scores {was}, and with {change} only {is}")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::{Nudge, Risk};

    /// The number of pairs, each of which differs.
    fn pairs<K: Kind>() -> usize {
        let (labels, requests) = random_requests::<K>(1, None).unwrap();
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
