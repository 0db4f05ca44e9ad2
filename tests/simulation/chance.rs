//! Everything that a seed decides.

use std::sync::{Arc, Mutex};

use crate::random::Random;

/// Clones share one sequence.
#[derive(Clone)]
pub(crate) struct Chance(Arc<Mutex<Random>>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Random::new(seed))))
    }

    /// From 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        let upper_half = (self.0.lock().unwrap().next() >> 32) as u32;
        f64::from(upper_half) / f64::from(u32::MAX)
    }

    /// From 0 to `count`, exclusive.
    pub(crate) fn pick(&self, count: usize) -> usize {
        ((self.fraction() * count as f64) as usize).min(count - 1)
    }

    pub(crate) fn happens(&self, permille: usize) -> bool {
        self.pick(1000) < permille
    }
}
