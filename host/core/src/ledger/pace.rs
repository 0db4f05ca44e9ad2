//! How fast a batcher works off its queue, and so how long the next command would wait.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Commands in one batch. Measured with 512 clients on two processors, in transfers a second: 3,640 with 16, 4,210 with
/// 32, 5,060 with 64, 5,640 with 128, 6,080 with 256 (medians; runs vary by a tenth). Beyond 128 throughput gains
/// little, while the first command of a batch waits for the last to be decided.
pub const BATCH_LENGTH_MAX: usize = 128;

/// Longest time that a user's command may be expected to wait in a queue. A person does not notice it yet.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// The recent time of a full batch. Only those tell: shorter ones take less time, and run when nobody waits for long.
#[derive(Default)]
pub(super) struct Pace {
    micros: AtomicU64,
}

impl Pace {
    /// Notes the time of a batch. The last ones count most.
    pub(super) fn note(&self, commands: usize, took: Duration) {
        if commands >= BATCH_LENGTH_MAX {
            let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            self.micros.store((self.micros.load(Relaxed) / 2).saturating_add(took / 2), Relaxed);
        }
    }

    /// Whether a command behind this many others would be done soon. Always true within the next batch, so that a full
    /// batch can form and be timed.
    pub(super) fn is_short(&self, waiting: usize) -> bool {
        let batches = u64::try_from(waiting / BATCH_LENGTH_MAX).unwrap_or(u64::MAX);
        let micros = self.micros.load(Relaxed).saturating_mul(batches.saturating_add(1));
        batches == 0 || Duration::from_micros(micros) <= WAIT_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_may_be_as_long_as_the_batcher_is_fast() {
        let pace = Pace::default();
        let longest = |pace: &Pace| (0..10_000).take_while(|waiting| pace.is_short(*waiting)).count();
        assert_eq!(longest(&pace), 10_000);
        // Nothing is learned from the time of a short batch.
        pace.note(1, Duration::from_secs(9));
        assert_eq!(longest(&pace), 10_000);
        (0..20).for_each(|_| pace.note(BATCH_LENGTH_MAX, Duration::from_millis(80)));
        assert_eq!(longest(&pace), 3 * BATCH_LENGTH_MAX);
        // However slow it is, a batch can form, and then shows that it is fast again.
        pace.note(BATCH_LENGTH_MAX, Duration::from_secs(30));
        assert_eq!(longest(&pace), BATCH_LENGTH_MAX);
        (0..12).for_each(|_| pace.note(BATCH_LENGTH_MAX, Duration::from_millis(40)));
        assert!(longest(&pace) >= 4 * BATCH_LENGTH_MAX);
    }
}
