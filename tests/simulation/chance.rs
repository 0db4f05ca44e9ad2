//! Everything that a seed decides.

use std::time::Duration;

use caudal::ledger::Jitter;
use tokio::time::sleep;

/// A sequence of decisions; its clones share it.
#[derive(Clone)]
pub(crate) struct Chance(Jitter);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Jitter::seeded(seed))
    }

    /// One of `count` numbers.
    pub(crate) fn pick(&self, count: usize) -> usize {
        ((self.0.share() * count as f64) as usize).min(count - 1)
    }

    /// So often of a thousand.
    pub(crate) fn happens(&self, permille: usize) -> bool {
        self.pick(1000) < permille
    }

    /// Up to so long.
    pub(crate) fn time(&self, most: Duration) -> Duration {
        most.mul_f64(self.0.share())
    }

    /// Lets others go first, for up to so long.
    pub(crate) async fn pause(&self, most: Duration) {
        sleep(self.time(most)).await;
    }
}
