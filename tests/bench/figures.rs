//! The figures of one turn.

use std::fmt;
use std::time::Duration;

use crate::processor::Used;

pub(crate) struct Figures {
    /// Times of successful requests.
    pub(crate) took: Vec<Duration>,
    pub(crate) failed: usize,
    pub(crate) time: Duration,
}

impl Figures {
    pub(crate) const HEAD: &'static str =
        "                     a second   p50 ms   p99 ms p99.9 ms   failed   processors: load    host  postgres";

    pub(crate) fn per_second(&self) -> f64 {
        self.took.len() as f64 / self.time.as_secs_f64()
    }

    pub(crate) fn line(&self, title: &str, used: &Used) -> String {
        let took = Sorted::new(self.took.clone());
        let seconds = self.time.as_secs_f64();
        format!(
            "{title:20} {:9.0} {:8.2} {:8.2} {:8.2} {:8} {:17.2} {:7.2} {:9.2}",
            self.per_second(),
            took.at(0.5),
            took.at(0.99),
            took.at(0.999),
            self.failed,
            used.load / seconds,
            used.hosts / seconds,
            used.postgres / seconds,
        )
    }
}

/// Ascending.
pub(crate) struct Sorted(Vec<Duration>);

impl Sorted {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    /// A percentile in milliseconds; `share` is from 0 to 1.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let time = self.0.get((self.0.len() as f64 * share) as usize);
        time.map_or(0.0, |it| it.as_secs_f64() * 1e3)
    }
}

/// The median of several turns, and how far they are apart.
pub(crate) struct Spread {
    low: f64,
    median: f64,
    high: f64,
}

impl Spread {
    pub(crate) fn of(turns: &[f64]) -> Self {
        let low = turns.iter().copied().fold(f64::INFINITY, f64::min);
        let high = turns.iter().copied().fold(0.0, f64::max);
        Self { low, median: median(turns.to_vec()), high }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ({:.0} to {:.0})", self.median, self.low, self.high)
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
