//! Users whose calls take long, one call of each at a time: what is slow for one of them delays nobody else.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, MutexGuard};

use crate::wasm::processor_time;

/// The processor time of a call from which its user's next ones wait for each other: a hundred times what our models
/// take.
const LONG: Duration = Duration::from_millis(1);

/// How long a user's calls do, after the last long one.
const REMEMBERED: Duration = Duration::from_secs(1);

/// Queues, into which users fall by their hash: so many that hardly anyone shares one with a slow user.
const QUEUES: usize = 4096;

static TURNS: LazyLock<Turns> = LazyLock::new(Turns::default);

struct Turns {
    start: Instant,
    queues: Vec<Queue>,
}

#[derive(Default)]
struct Queue {
    /// In milliseconds since the start.
    slow_until: AtomicU64,
    turn: Mutex<()>,
}

impl Default for Turns {
    fn default() -> Self {
        let queues = std::iter::repeat_with(Queue::default).take(QUEUES).collect();
        Self { start: Instant::now(), queues }
    }
}

impl Turns {
    fn queue(&self, user: u64) -> &Queue {
        &self.queues[user as usize % QUEUES]
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
    }
}

/// Waits for the user's turn, if their calls take long.
pub(super) async fn wait(user: u64) -> Option<MutexGuard<'static, ()>> {
    let queue = TURNS.queue(user);
    if queue.slow_until.load(Relaxed) <= TURNS.now() {
        return None;
    }
    Some(queue.turn.lock().await)
}

/// Makes a call of a user, and notes whether it is long.
pub(super) fn take<T>(user: u64, call: impl FnOnce() -> T) -> T {
    // Not in wall time: on a busy machine, others have the processor meanwhile.
    let start = processor_time();
    let answer = call();
    if processor_time().saturating_sub(start) >= LONG {
        let until = TURNS.now() + u64::try_from(REMEMBERED.as_millis()).unwrap_or(u64::MAX);
        TURNS.queue(user).slow_until.store(until, Relaxed);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn a_slow_user_waits_and_nobody_else_does() {
        let (slow, preempted) = (1, 2);
        assert!(wait(slow).await.is_none());
        take(slow, || {
            let start = processor_time();
            while processor_time() - start < LONG {}
        });
        take(preempted, || std::thread::sleep(2 * LONG));
        let turn = wait(slow).await;
        assert!(turn.is_some() && wait(slow).now_or_never().is_none());
        assert!(wait(preempted).await.is_none());
        drop(turn);
        assert!(wait(slow).await.is_some());
    }
}
