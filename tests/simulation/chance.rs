//! Everything that a seed decides.

use caudal::ledger::Jitter;

/// A sequence of decisions; its clones share it.
#[derive(Clone)]
pub(crate) struct Chance(Jitter);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Jitter::seeded(seed))
    }

    /// From 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        self.0.share()
    }

    /// One of `count` numbers.
    pub(crate) fn pick(&self, count: usize) -> usize {
        ((self.share() * count as f64) as usize).min(count - 1)
    }

    /// So often of a thousand.
    pub(crate) fn happens(&self, permille: usize) -> bool {
        self.pick(1000) < permille
    }
}
