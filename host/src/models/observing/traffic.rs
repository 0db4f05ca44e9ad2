//! What a version does, as counts that all hosts add up minute by minute.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use crate::models::observing::measure::{Failure, bucket_of_time};
use crate::wasm::ScoreError;

/// More classes than any kind has.
const CLASSES: usize = 16;

/// Buckets of the times: the last holds everything from a quarter of an hour.
const TIMES: usize = 120;

/// How long counts are kept: two days of at most some forty rows a minute and version.
pub(crate) const RETENTION_MINUTES: u32 = 2 * 24 * 60;

/// Values of `traffic.measure`.
pub(crate) const ANSWERED: &str = "answered";
pub(crate) const CLASS: &str = "class";
pub(crate) const TIME: &str = "time";
pub(crate) const FAILED: &str = "failed";
pub(crate) const COMPARED: &str = "compared";
pub(crate) const FLIPPED: &str = "flipped";

/// The counts of one version on this host since they were last taken. Every answer changes three of them, so they are
/// atomic and need no lock.
#[derive(Debug)]
pub struct Traffic {
    answered: AtomicU32,
    classes: [AtomicU32; CLASSES],
    times: [AtomicU32; TIMES],
    failed: [AtomicU32; Failure::ALL.len()],
    compared: AtomicU32,
    flipped: AtomicU32,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            answered: AtomicU32::default(),
            classes: [const { AtomicU32::new(0) }; CLASSES],
            times: [const { AtomicU32::new(0) }; TIMES],
            failed: [const { AtomicU32::new(0) }; Failure::ALL.len()],
            compared: AtomicU32::default(),
            flipped: AtomicU32::default(),
        }
    }
}

/// A measure, its bucket and the count.
pub(crate) type Taken = (&'static str, usize, u32);

impl Traffic {
    /// `class` is `None` where it would reveal too much about a person.
    pub(crate) fn answer(&self, class: Option<usize>, time: Duration) {
        self.answered.fetch_add(1, Relaxed);
        let bucket = usize::try_from(bucket_of_time(time)).unwrap_or_default();
        self.times[bucket.min(TIMES - 1)].fetch_add(1, Relaxed);
        if let Some(count) = class.and_then(|class| self.classes.get(class)) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Counts a failure that is the version's.
    pub(crate) fn fail(&self, error: &ScoreError) {
        if let Some(failure) = Failure::of(error) {
            self.failed[failure as usize].fetch_add(1, Relaxed);
        }
    }

    /// Counts an answer that was compared with the champion's.
    pub(crate) fn compare(&self, flipped: bool) {
        self.compared.fetch_add(1, Relaxed);
        self.flipped.fetch_add(flipped.into(), Relaxed);
    }

    fn counters(&self) -> impl Iterator<Item = (&'static str, usize, &AtomicU32)> {
        fn several<'a>(
            measure: &'static str,
            counts: &'a [AtomicU32],
        ) -> impl Iterator<Item = (&'static str, usize, &'a AtomicU32)> {
            counts.iter().enumerate().map(move |(bucket, count)| (measure, bucket, count))
        }
        let single = [(ANSWERED, 0, &self.answered), (COMPARED, 0, &self.compared), (FLIPPED, 0, &self.flipped)];
        let classes = several(CLASS, &self.classes).chain(several(TIME, &self.times));
        single.into_iter().chain(classes).chain(several(FAILED, &self.failed))
    }

    /// What was counted since the last call, without zeros.
    pub(crate) fn take(&self) -> Vec<Taken> {
        let taken = self.counters().map(|(measure, bucket, count)| (measure, bucket, count.swap(0, Relaxed)));
        taken.filter(|(.., count)| *count > 0).collect()
    }

    /// Returns counts that could not be stored: they go to the minute in which they can.
    pub(crate) fn give_back(&self, taken: &[Taken]) {
        for (measure, bucket, counter) in self.counters() {
            let found = taken.iter().find(|it| (it.0, it.1) == (measure, bucket));
            found.map(|it| counter.fetch_add(it.2, Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_taken_once_unless_they_are_given_back() {
        let traffic = Traffic::default();
        traffic.answer(Some(2), Duration::from_micros(16));
        traffic.answer(None, Duration::from_secs(1_000_000_000));
        traffic.answer(Some(CLASSES), Duration::ZERO);
        traffic.fail(&ScoreError::TimedOut);
        // Not the version's fault.
        traffic.fail(&ScoreError::Busy);
        traffic.compare(true);
        traffic.compare(false);
        let taken = traffic.take();
        let mut expected = vec![
            (ANSWERED, 0, 3),
            (COMPARED, 0, 2),
            (FLIPPED, 0, 1),
            (CLASS, 2, 1),
            (TIME, 0, 1),
            (TIME, 16, 1),
            (TIME, TIMES - 1, 1),
            (FAILED, Failure::TimedOut as usize, 1),
        ];
        expected.sort_unstable();
        let sorted = |mut taken: Vec<Taken>| {
            taken.sort_unstable();
            taken
        };
        assert_eq!(sorted(taken.clone()), expected);
        assert_eq!(traffic.take(), []);
        traffic.give_back(&taken);
        assert_eq!(sorted(traffic.take()), expected);
    }
}
