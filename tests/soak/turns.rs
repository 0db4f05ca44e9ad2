//! Comparing two states of one service in one run: they take short turns, so that a change of the machine's
//! mood meets both, and each part of the load is set beside itself.

use std::time::{Duration, Instant};

use crate::load::{MACHINE, Sample};

/// Turns of each state.
pub(crate) const TURNS: u32 = 10;

/// When which of two states was.
pub(crate) struct Turns {
    names: [&'static str; 2],
    spans: Vec<(usize, Instant, Instant)>,
}

impl Turns {
    /// The state to compare with comes first.
    pub(crate) fn new(names: [&'static str; 2]) -> Self {
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
        println!("{:24} requests   p50 ms   p99 ms", "");
        let single = paths.iter().chain(&[MACHINE]).map(|path| (*path, std::slice::from_ref(path)));
        for (title, paths) in std::iter::once(("all", &paths[..])).chain(single) {
            let states = [0, 1].map(|state| self.took(samples, paths, state));
            for (name, took) in self.names.iter().zip(&states) {
                let (half, most) = (percentile(took, 50), percentile(took, 99));
                println!("{title:14}{name:10} {:8} {half:8.2} {most:8.2}", took.len());
            }
            let ratio = |share| percentile(&states[1], share) / percentile(&states[0], share);
            println!("{title:14}{:10} {:8} {:8.2} {:8.2}", "ratio", "", ratio(50), ratio(99));
        }
    }
}

/// Of a hundred, how long the slowest but so many took, in milliseconds.
fn percentile(took: &[Duration], share: usize) -> f64 {
    took[took.len() * share / 100].as_secs_f64() * 1e3
}
