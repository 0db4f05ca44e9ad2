//! Where commands wait: a bounded queue for each batcher, chosen by the debited account.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use super::batch::Terms;
use super::batcher::Batcher;
use super::chain::ChainKey;
use super::store::Store;
use super::{Command, Jitter, Outcome};
use crate::clock::Clock;
use crate::models::Models;
use crate::models::decisions::DecisionLogError;

/// Batchers of one host, each with a chain of its own: while one waits for the disk, the other decides. A third one
/// makes batches smaller and gains nothing on two processors.
pub const BATCHERS: usize = 2;

/// Commands that may wait for one batcher: a few batches. A caller is better told to come back than kept
/// longer.
pub const QUEUE_LENGTH_MAX: usize = 512;

/// Why a command has no outcome. A retry with the same idempotency key is safe in every case.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    /// Too many commands wait, or too many races were lost. Nothing was written.
    #[error("the ledger has more to do than it can take")]
    Overloaded,
    /// The database failed. Nothing was written.
    #[error("the ledger's database failed")]
    Database(#[source] Arc<sqlx::Error>),
    /// The database went away and did not come back in time to say whether the commit happened.
    #[error("the outcome is not known yet")]
    Unknown,
    /// The rules' decisions could not be kept, and this host has to keep them. Nothing was written.
    #[error(transparent)]
    NotKept(#[from] DecisionLogError),
    /// The database refused what was to be written. Nothing was written.
    #[error("the database refused the batch")]
    Refused(#[source] Arc<sqlx::Error>),
    /// A fault of ours, logged where it happened. The commit may have happened.
    #[error("the ledger panicked")]
    Panicked,
    /// The host is going down. Nothing was written.
    #[error("the ledger is closed")]
    Closed,
}

impl From<sqlx::Error> for LedgerError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

impl LedgerError {
    /// Whether one command of a batch may have failed all of it, and nothing was written for certain.
    pub(super) fn may_be_one_commands(&self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

/// A command and who waits for it.
pub(super) struct Job {
    pub(super) command: Command,
    pub(super) taken_at: Instant,
    pub(super) reply: oneshot::Sender<Result<Outcome, LedgerError>>,
}

/// A handle to the running batchers; cheap to clone.
#[derive(Clone)]
pub struct Ledger {
    queues: Arc<[mpsc::Sender<Job>]>,
}

/// Settings of the ledger.
#[derive(Debug, Clone)]
pub struct LedgerConfig {
    /// Policy.
    pub terms: Terms,
    /// What hashes are made with; every host of a ledger has the same.
    pub key: ChainKey,
    /// What pauses are drawn from.
    pub jitter: Jitter,
}

impl LedgerConfig {
    /// With pauses that nobody can foresee.
    pub fn new(terms: Terms, key: ChainKey) -> Self {
        Self { terms, key, jitter: Jitter::System }
    }
}

impl Ledger {
    /// Leases a chain for each batcher and starts them. The task ends when every handle is gone and all
    /// that waited is answered.
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
        for _ in 0..BATCHERS {
            let batcher = Batcher::new(store.clone(), models.clone(), clock.clone(), config.clone()).await?;
            let (jobs, queue) = mpsc::channel(QUEUE_LENGTH_MAX);
            queues.push(jobs);
            batchers.spawn(batcher.run(queue));
        }
        let task = tokio::spawn(async move { while batchers.join_next().await.is_some() {} });
        Ok((Self { queues: queues.into() }, task))
    }

    /// Whether there are batchers behind this handle.
    pub fn is_open(&self) -> bool {
        self.queues.iter().all(|jobs| !jobs.is_closed())
    }

    /// Commands on one balance meet in one queue: they never race each other.
    fn queue_of(&self, command: &Command) -> &mpsc::Sender<Job> {
        let debited = command.account_id();
        // The last bytes of an id are random in every version that we make.
        let spread = usize::from(u16::from_be_bytes([debited.as_bytes()[14], debited.as_bytes()[15]]));
        &self.queues[spread % self.queues.len()]
    }

    /// Runs a command to its end, even if the caller stops waiting.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn submit(&self, command: Command) -> Result<Outcome, LedgerError> {
        let (reply, outcome) = oneshot::channel();
        self.queue_of(&command).try_send(Job { command, taken_at: Instant::now(), reply }).map_err(
            |error| match error {
                mpsc::error::TrySendError::Full(_) => LedgerError::Overloaded,
                mpsc::error::TrySendError::Closed(_) => LedgerError::Closed,
            },
        )?;
        // A reply that never comes was lost with a batch that may have been committed.
        outcome.await.unwrap_or(Err(LedgerError::Unknown))
    }
}
