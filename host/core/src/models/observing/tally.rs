//! The tally of a version: each of its answers and failures is counted here once, for the metrics of this host and for
//! the table `traffic`, where all hosts add up what they counted in a minute.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

use crate::domain::model::ModelKind;
use crate::metrics::Metrics;
use crate::models::observing::measure::{Failure, Measure, bucket_of_time};
use crate::wasm::ScoreError;

/// More classes than any kind has.
const CLASSES: usize = 16;

/// Buckets of the times: the last holds everything from a quarter of an hour.
const TIMES: usize = 120;

/// How long counts are kept: two days of at most some forty rows a minute and version.
pub const RETENTION_MINUTES: u32 = 2 * 24 * 60;

/// What is counted, and the buckets of each.
const MEASURES: [(Measure, usize); 6] = [
    (Measure::Answered, 1),
    (Measure::Class, CLASSES),
    (Measure::Time, TIMES),
    (Measure::Failed, Failure::ALL.len()),
    (Measure::Compared, 1),
    (Measure::Flipped, 1),
];

/// The counters of a measure come after those of the ones before it.
const ANSWERED: usize = 0;
const CLASS: usize = ANSWERED + 1;
const TIME: usize = CLASS + CLASSES;
const FAILED: usize = TIME + TIMES;
const COMPARED: usize = FAILED + Failure::ALL.len();
const FLIPPED: usize = COMPARED + 1;
const COUNTERS: usize = FLIPPED + 1;

/// The counts of one version on this host since they were last taken. Every answer changes three of them, so they are
/// atomic and need no lock.
#[derive(Debug)]
pub struct Tally {
    counts: [AtomicU32; COUNTERS],
    /// The metrics that nearly every answer changes, looked up once.
    answered: OnceLock<(Counter, Histogram)>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { counts: [const { AtomicU32::new(0) }; COUNTERS], answered: OnceLock::new() }
    }
}

/// A measure, its bucket and the count.
pub(crate) type Taken = (Measure, usize, u32);

impl Tally {
    /// Counts an answer and its class, which is `None` where it would reveal too much about a person; or a failure.
    pub(crate) fn count(
        &self,
        metrics: &Metrics,
        kind: ModelKind,
        answer: Result<Option<usize>, &ScoreError>,
        time: Duration,
    ) {
        match answer {
            Ok(class) => {
                let (count, seconds) = self.answered.get_or_init(|| {
                    let count = metrics.model_decisions.of([kind.as_str(), "answered"]).clone();
                    (count, metrics.model_decision_seconds.of([kind.as_str()]).clone())
                });
                count.inc();
                seconds.observe(time.as_secs_f64());
                let bucket = usize::try_from(bucket_of_time(time)).unwrap_or_default().min(TIMES - 1);
                let class = class.filter(|class| *class < CLASSES).map(|class| CLASS + class);
                [ANSWERED, TIME + bucket].into_iter().chain(class).for_each(|at| self.add(at, 1));
            }
            Err(error) => {
                count_failure(metrics, kind, error, time);
                Failure::of(error).iter().for_each(|failure| self.add(FAILED + *failure as usize, 1));
            }
        }
    }

    /// Counts an answer that was compared with the champion's.
    pub(crate) fn compare(&self, flipped: bool) {
        self.add(COMPARED, 1);
        self.add(FLIPPED, flipped.into());
    }

    fn add(&self, at: usize, count: u32) {
        self.counts[at].fetch_add(count, Relaxed);
    }

    fn counters(&self) -> impl Iterator<Item = (Measure, usize, &AtomicU32)> {
        let buckets = MEASURES.into_iter().flat_map(|(measure, buckets)| (0..buckets).map(move |it| (measure, it)));
        buckets.zip(&self.counts).map(|((measure, bucket), count)| (measure, bucket, count))
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

/// Counts a failure for this host's metrics: that of a version, or one for lack of any.
pub(crate) fn count_failure(metrics: &Metrics, kind: ModelKind, error: &ScoreError, time: Duration) {
    let outcome = Failure::of(error).map_or("unavailable", Failure::as_str);
    metrics.model_decisions.of([kind.as_str(), outcome]).inc();
    metrics.model_decision_seconds.of([kind.as_str()]).observe(time.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_counted_once_and_taken_once_unless_it_is_given_back() {
        let (tally, metrics) = (Tally::default(), Metrics::default());
        let count = |answer, time| tally.count(&metrics, ModelKind::Risk, answer, time);
        count(Ok(Some(2)), Duration::from_micros(16));
        count(Ok(None), Duration::from_secs(1_000_000_000));
        count(Ok(Some(CLASSES)), Duration::ZERO);
        count(Err(&ScoreError::TimedOut), Duration::ZERO);
        // Not the version's fault.
        count(Err(&ScoreError::Busy), Duration::ZERO);
        tally.compare(true);
        tally.compare(false);
        let taken = tally.take();
        let expected = [
            (Measure::Answered, 0, 3),
            (Measure::Class, 2, 1),
            (Measure::Time, 0, 1),
            (Measure::Time, 16, 1),
            (Measure::Time, TIMES - 1, 1),
            (Measure::Failed, Failure::TimedOut as usize, 1),
            (Measure::Compared, 0, 2),
            (Measure::Flipped, 0, 1),
        ];
        assert_eq!(taken, expected);
        assert_eq!(tally.take(), []);
        tally.give_back(&taken);
        assert_eq!(tally.take(), expected);
        let text = metrics.text();
        for (outcome, count) in [("answered", 3), ("timed_out", 1), ("unavailable", 1)] {
            let line = format!("caudal_model_decisions_total{{kind=\"risk\",outcome=\"{outcome}\"}} {count}");
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
    }
}
