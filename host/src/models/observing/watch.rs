//! Decides when a challenger has failed. Each host judges by its own observations.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::wasm::ScoreError;

/// Failures, however far apart, after which a challenger counts as failed. It passed the gate, so one
/// failure may be chance, but not three.
const FAILURES_MAX: u32 = 3;

/// Compared answers before the share of flips is judged.
const COMPARED_MIN: u32 = 200;

/// Standard deviations by which a share may exceed its limit.
const DEVIATIONS: f64 = 4.0;

#[derive(Debug, Default)]
pub struct Watch {
    /// `None` if flips are not limited.
    max_flip_percent: Option<u8>,
    failures: AtomicU32,
    compared: AtomicU32,
    flipped: AtomicU32,
    verdict: OnceLock<String>,
}

impl Watch {
    /// For a challenger that may flip at most this percentage of answers.
    pub fn with_limit(max_flip_percent: u8) -> Self {
        Self { max_flip_percent: Some(max_flip_percent), ..Self::default() }
    }

    pub(crate) fn fail(&self, error: &ScoreError) {
        if error.is_model_fault() && self.failures.fetch_add(1, Relaxed) + 1 >= FAILURES_MAX {
            self.conclude(|| format!("it failed {FAILURES_MAX} times, most recently because {error}"));
        }
    }

    pub(crate) fn compare(&self, flipped: bool) {
        let flipped = self.flipped.fetch_add(u32::from(flipped), Relaxed) + u32::from(flipped);
        let compared = self.compared.fetch_add(1, Relaxed) + 1;
        let Some(limit) = self.max_flip_percent.filter(|_| compared >= COMPARED_MIN) else { return };
        let (share, allowed) = (f64::from(flipped) / f64::from(compared), f64::from(limit) / 100.0);
        // By how much a canary exactly at its limit may exceed it by chance. The share is checked after every
        // answer, so a false alarm must be rare.
        let chance = DEVIATIONS * (allowed * (1.0 - allowed) / f64::from(compared)).sqrt();
        if share > allowed + chance {
            // The report adds up what all hosts compare, so say whose figures these are.
            let these = format!("{flipped} of the {compared} answers that one host had compared");
            self.conclude(|| format!("{these} were in another class, more than {limit}%"));
        }
    }

    fn conclude(&self, reason: impl FnOnce() -> String) {
        self.verdict.get_or_init(reason);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.verdict.get().is_some()
    }

    pub fn reason(&self) -> Option<&str> {
        self.verdict.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_failure_is_final() {
        let watch = Watch::with_limit(10);
        watch.fail(&ScoreError::TimedOut);
        // Not the model's fault.
        (0..10).for_each(|_| watch.fail(&ScoreError::Busy));
        watch.fail(&ScoreError::TimedOut);
        assert!(!watch.has_failed());
        watch.fail(&ScoreError::TimedOut);
        assert_eq!(watch.reason(), Some("it failed 3 times, most recently because the model ran out of time"));
    }

    #[test]
    fn too_many_flips_fail_it_once_there_are_enough_answers() {
        let watch = Watch::with_limit(10);
        (0..COMPARED_MIN - 1).for_each(|_| watch.compare(true));
        assert!(!watch.has_failed(), "too few answers");
        watch.compare(true);
        assert_eq!(
            watch.reason(),
            Some("200 of the 200 answers that one host had compared were in another class, more than 10%")
        );

        let watch = Watch::with_limit(10);
        (0..10_000).for_each(|index| watch.compare(index % 10 == 9));
        assert!(!watch.has_failed(), "ten percent are within the limit");
        (0..1000).for_each(|_| watch.compare(true));
        assert!(watch.has_failed());
        // Fifteen percent exceed the limit significantly after a few hundred answers.
        let watch = Watch::with_limit(10);
        (0..2000).for_each(|index| watch.compare(index % 20 < 3));
        assert!(watch.has_failed());
        let unlimited = Watch::default();
        (0..1000).for_each(|_| unlimited.compare(true));
        assert!(!unlimited.has_failed());
    }
}
