//! Compares states of one service within a run. The states take short turns, so that changes of the machine's speed
//! affect all of them, and each kind of request is compared with itself.

use std::time::{Duration, Instant};

use crate::is_long;
use crate::load::{MACHINE, Sample};

/// Turns of each state; one in the short form, whose figures mean nothing.
pub(crate) fn turns() -> u32 {
    if is_long() { 10 } else { 1 }
}

/// When each state was active.
pub(crate) struct Turns {
    names: &'static [&'static str],
    spans: Vec<(usize, Instant, Instant)>,
}

impl Turns {
    /// The first state is the baseline.
    pub(crate) fn new(names: &'static [&'static str]) -> Self {
        Self { names, spans: Vec::new() }
    }

    /// Records a turn that ends now.
    pub(crate) fn add(&mut self, state: usize, start: Instant) {
        self.spans.push((state, start, Instant::now()));
    }

    /// Times of requests to these paths in one state, ascending.
    fn took(&self, samples: &[Sample], paths: &[&str], state: usize) -> Vec<Duration> {
        let within = |sample: &&Sample| {
            let mut spans = self.spans.iter().filter(|(of, ..)| *of == state);
            paths.contains(&sample.path) && spans.any(|(_, from, to)| sample.due >= *from && sample.due < *to)
        };
        let mut took: Vec<_> = samples.iter().filter(within).map(|sample| sample.took).collect();
        took.sort();
        took
    }

    /// Prints times of all requests together, of each path, and of the machine's own latency.
    pub(crate) fn print(&self, samples: &[Sample]) {
        let paths = ["/ai/risk", "/ai/nudge", "/transactions"];
        println!("{:26} requests  p50 ms (ratio)  p99 ms (ratio)", "");
        let single = paths.iter().chain(&[MACHINE]).map(|path| (*path, std::slice::from_ref(path)));
        for (title, paths) in std::iter::once(("all", &paths[..])).chain(single) {
            let quiet = self.took(samples, paths, 0);
            for (state, name) in self.names.iter().enumerate() {
                let took = self.took(samples, paths, state);
                let figure = |share| (percentile(&took, share), percentile(&took, share) / percentile(&quiet, share));
                let ((half, half_ratio), (most, most_ratio)) = (figure(50), figure(99));
                let count = took.len();
                println!("{title:14}{name:12} {count:8} {half:7.2} ({half_ratio:4.2}) {most:8.2} ({most_ratio:4.2})");
            }
        }
    }
}

/// In milliseconds; not a number without any, as on a machine that was busy with something else.
fn percentile(took: &[Duration], share: usize) -> f64 {
    took.get(took.len() * share / 100).map_or(f64::NAN, |took| took.as_secs_f64() * 1e3)
}
