//! Whether a challenger may go on. Each host judges what it sees itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::wasm::ScoreError;

/// Failures after which a challenger is over, whenever they come: it was examined at the gate, so one may
/// be chance and three are not.
const FAILURES_MAX: u32 = 3;

/// Compared answers before their share of flips means something.
const COMPARED_MIN: u32 = 200;

/// Standard deviations that a share may lie above its limit.
const DEVIATIONS: f64 = 4.0;

/// What was seen of a challenger.
#[derive(Debug, Default)]
pub struct Watch {
    /// None: it may differ as it likes.
    max_flip_percent: Option<u8>,
    failures: AtomicU32,
    compared: AtomicU32,
    flipped: AtomicU32,
    over: OnceLock<String>,
}

impl Watch {
    /// Of one that may differ in so many of a hundred answers.
    pub fn with_limit(max_flip_percent: u8) -> Self {
        Self { max_flip_percent: Some(max_flip_percent), ..Self::default() }
    }

    /// Notes a failure.
    pub(crate) fn fail(&self, error: &ScoreError) {
        if error.is_model_fault() && self.failures.fetch_add(1, Relaxed) + 1 >= FAILURES_MAX {
            self.end(|| format!("it failed {FAILURES_MAX} times, at last because {error}"));
        }
    }

    /// Notes a comparison.
    pub(crate) fn compare(&self, flipped: bool) {
        let flipped = self.flipped.fetch_add(u32::from(flipped), Relaxed) + u32::from(flipped);
        let compared = self.compared.fetch_add(1, Relaxed) + 1;
        let Some(limit) = self.max_flip_percent.filter(|_| compared >= COMPARED_MIN) else { return };
        let (share, allowed) = (f64::from(flipped) / f64::from(compared), f64::from(limit) / 100.0);
        // How far the share of a canary that is just within the limit lies above it by chance; it is looked
        // at after every answer, so this has to be rare.
        let chance = DEVIATIONS * (allowed * (1.0 - allowed) / f64::from(compared)).sqrt();
        if share > allowed + chance {
            self.end(|| format!("{flipped} of {compared} answers were of another class, more than {limit} %"));
        }
    }

    fn end(&self, reason: impl FnOnce() -> String) {
        self.over.get_or_init(reason);
    }

    /// Whether it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// Why it is over.
    pub fn reason(&self) -> Option<&str> {
        self.over.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_failure_ends_it() {
        let watch = Watch::with_limit(10);
        watch.fail(&ScoreError::TimedOut);
        // Not its fault.
        (0..10).for_each(|_| watch.fail(&ScoreError::Busy));
        watch.fail(&ScoreError::TimedOut);
        assert!(!watch.is_over());
        watch.fail(&ScoreError::TimedOut);
        assert_eq!(watch.reason(), Some("it failed 3 times, at last because the model ran out of time"));
    }

    #[test]
    fn flips_beyond_the_limit_end_it_once_there_are_enough_answers() {
        let watch = Watch::with_limit(10);
        (0..COMPARED_MIN - 1).for_each(|_| watch.compare(true));
        assert!(!watch.is_over(), "too few to tell");
        watch.compare(true);
        assert_eq!(watch.reason(), Some("200 of 200 answers were of another class, more than 10 %"));

        let watch = Watch::with_limit(10);
        (0..10_000).for_each(|index| watch.compare(index % 10 == 9));
        assert!(!watch.is_over(), "ten of a hundred are within the limit");
        (0..1000).for_each(|_| watch.compare(true));
        assert!(watch.is_over());
        // Fifteen of a hundred are too many, and that is known after some hundreds.
        let watch = Watch::with_limit(10);
        (0..2000).for_each(|index| watch.compare(index % 20 < 3));
        assert!(watch.is_over());
        let unlimited = Watch::default();
        (0..1000).for_each(|_| unlimited.compare(true));
        assert!(!unlimited.is_over());
    }
}
