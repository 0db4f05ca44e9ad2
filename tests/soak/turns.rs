//! Comparing states of one service in one run: they take short turns, so that a change of the machine's
//! mood meets both, and each part of the load is set beside itself.

use std::time::{Duration, Instant};

use crate::is_long;
use crate::load::{MACHINE, Sample};

/// Turns of each state; one where nobody looks at the figures.
pub(crate) fn turns() -> u32 {
    if is_long() { 10 } else { 1 }
}

/// When which of some states was.
pub(crate) struct Turns {
    names: &'static [&'static str],
    spans: Vec<(usize, Instant, Instant)>,
}

impl Turns {
    /// The state that the others are compared with comes first.
    pub(crate) fn new(names: &'static [&'static str]) -> Self {
        Self { names, spans: Vec::new() }
    }

    /// A turn of one state, which ends now.
    pub(crate) fn add(&mut self, state: usize, start: Instant) {
        self.spans.push((state, start, Instant::now()));
    }

    /// How long requests on these paths took in one state, shortest first.
    fn took(&self, samples: &[Sample], paths: &[&str], state: usize) -> Vec<Duration> {
        let within = |sample: &&Sample| {
            let mut spans = self.spans.iter().filter(|(of, ..)| *of == state);
            paths.contains(&sample.path) && spans.any(|(_, from, to)| sample.due >= *from && sample.due < *to)
        };
        let mut took: Vec<_> = samples.iter().filter(within).map(|sample| sample.took).collect();
        took.sort();
        took
    }

    /// Times of all requests together, of each path, and how late the machine let threads wake.
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

/// Of a hundred, how long the slowest but so many took, in milliseconds.
fn percentile(took: &[Duration], share: usize) -> f64 {
    took[took.len() * share / 100].as_secs_f64() * 1e3
}
