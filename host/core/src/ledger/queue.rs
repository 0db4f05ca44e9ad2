//! Bounded queues, one for each batcher.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use super::batcher::Batcher;
use super::command::{Command, Outcome, PlaceHold};
use super::job::{Caller, Job, LedgerConfig, LedgerError};
use super::pace::Pace;
use super::store::Store;
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::models::Models;

/// Batchers per host, each with its own chain: one decides while the other waits for the disk. On two
/// processors, a third makes batches smaller without a gain in throughput.
pub const BATCHERS: usize = 2;

/// The batchers in metrics.
const NAMES: [&str; BATCHERS] = ["0", "1"];

/// Commands queued for one batcher: a few batches. Beyond that, shedding load beats letting callers wait.
pub const QUEUE_LENGTH_MAX: usize = 512;

/// Places in it that users leave to the rail's reports, expired holds and operators: half a batch.
pub const QUEUE_RESERVED: usize = 64;

/// A batcher's queue.
struct Queue {
    jobs: mpsc::Sender<Job>,
    pace: Arc<Pace>,
}

impl Queue {
    fn waiting(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    /// Whether a user's command need not wait for long.
    fn has_room(&self) -> bool {
        let waiting = self.waiting();
        waiting < QUEUE_LENGTH_MAX - QUEUE_RESERVED && self.pace.is_short(waiting)
    }
}

/// A handle to the running batchers; cheap to clone.
#[derive(Clone)]
pub struct Ledger {
    queues: Arc<[Queue]>,
    metrics: Metrics,
}

impl Ledger {
    /// Leases a chain for each batcher and starts them. The task exits once every handle is dropped and every
    /// queued command is answered.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn start(
        store: impl Store,
        models: Models,
        clock: Clock,
        config: LedgerConfig,
    ) -> Result<(Self, JoinHandle<()>), sqlx::Error> {
        let mut queues = Vec::with_capacity(BATCHERS);
        let mut batchers = JoinSet::new();
        let metrics = models.metrics().clone();
        metrics.expect_answers();
        for name in NAMES {
            let batcher = Batcher::new(name, store.clone(), models.clone(), clock.clone(), config.clone()).await?;
            let (jobs, queue) = mpsc::channel(QUEUE_LENGTH_MAX);
            queues.push(Queue { jobs, pace: batcher.pace() });
            batchers.spawn(batcher.run(queue));
        }
        let task = tokio::spawn(async move { while batchers.join_next().await.is_some() {} });
        Ok((Self { queues: queues.into(), metrics }, task))
    }

    /// Whether the batchers are running.
    pub fn is_open(&self) -> bool {
        self.queues.iter().all(|queue| !queue.jobs.is_closed())
    }

    /// Whether users' commands would wait for long in every queue.
    pub fn is_busy(&self) -> bool {
        !self.queues.iter().any(Queue::has_room)
    }

    /// Sets the metrics that are read from the queues.
    pub fn measure(&self) {
        self.metrics.ledger_open.set(self.is_open().into());
        for (queue, name) in self.queues.iter().zip(NAMES) {
            self.metrics.queue_commands.of([name]).set(queue.waiting().try_into().unwrap_or(i64::MAX));
        }
    }

    /// A user's orders share a queue, so that they never race each other within a host for an account or a limit.
    fn queue_for(&self, command: &Command) -> &Queue {
        let mut hasher = DefaultHasher::new();
        match command {
            Command::Open(open) => open.owner.hash(&mut hasher),
            Command::Transfer(order) | Command::Hold(PlaceHold { order, .. }) => order.owner.hash(&mut hasher),
            // So do orders to one number.
            Command::Receive(receive) => receive.order.payee_number.hash(&mut hasher),
            other => other.account_id().hash(&mut hasher),
        }
        let hash = hasher.finish() % self.queues.len() as u64;
        &self.queues[hash as usize]
    }

    /// Executes a command. One whose future is dropped while it is queued is not executed; later, dropping the future
    /// cancels nothing.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn submit(&self, command: Command) -> Result<Outcome, LedgerError> {
        let (reply, outcome) = oneshot::channel();
        let queue = self.queue_for(&command);
        let caller = Caller::new(reply, self.metrics.clone());
        if command.is_interactive() && !queue.has_room() {
            caller.answer(Err(LedgerError::Full));
        } else if let Err(error) = queue.jobs.try_send(Job { command, caller }) {
            let (job, error) = match error {
                mpsc::error::TrySendError::Full(job) => (job, LedgerError::Full),
                mpsc::error::TrySendError::Closed(job) => (job, LedgerError::Closed),
            };
            job.caller.answer(Err(error));
        }
        // The batch of a dropped reply may have been committed.
        outcome.await.unwrap_or(Err(LedgerError::Unknown))
    }
}
