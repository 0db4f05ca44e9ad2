//! Types shared by the queues and the batchers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Span;

use super::batch::Terms;
use super::chain::ChainKey;
use super::command::{Command, Outcome};
use super::heads::recording::Committed;
use super::jitter::Jitter;
use crate::db::session::is_outage;
use crate::metrics::Metrics;
use crate::telemetry::SPANS;

/// How long a command may be queued. Its caller has given up by then, so it is no longer decided.
const QUEUE_TIME_MAX: Duration = Duration::from_secs(15);

/// A queued command and its caller.
pub(super) struct Job {
    pub(super) command: Command,
    pub(super) caller: Caller,
}

/// Who waits for a command.
pub(super) struct Caller {
    queued_at: Instant,
    metrics: Metrics,
    /// Of its wait, linked to the batch's.
    span: Span,
    reply: oneshot::Sender<Result<Outcome, LedgerError>>,
}

impl Caller {
    pub(super) fn new(reply: oneshot::Sender<Result<Outcome, LedgerError>>, metrics: Metrics) -> Self {
        let span = tracing::debug_span!(target: SPANS, "command");
        Self { queued_at: Instant::now(), metrics, span, reply }
    }

    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Whether the caller is still there, and not about to give up.
    pub(super) fn is_waiting(&self, failover_wait: Duration) -> bool {
        !self.reply.is_closed() && self.queued_at.elapsed() <= QUEUE_TIME_MAX + failover_wait
    }

    /// The caller may have disconnected; the outcome is unaffected.
    pub(super) fn answer(self, answer: Result<Outcome, LedgerError>) {
        self.metrics.answered(&answer);
        let _ = self.reply.send(answer);
    }
}

#[derive(Debug, Clone)]
pub struct LedgerConfig {
    pub terms: Terms,
    /// The same on every host of a ledger.
    pub key: ChainKey,
    /// Randomises the pauses between attempts.
    pub jitter: Jitter,
    /// How long commands wait for a new primary, beyond the usual waits.
    pub failover_wait: Duration,
    /// Where batchers put what they committed.
    pub committed: Committed,
}

impl LedgerConfig {
    pub fn new(terms: Terms, key: ChainKey) -> Self {
        Self { terms, key, jitter: Jitter::system(), failover_wait: Duration::ZERO, committed: Committed::default() }
    }
}

/// Why a command has no outcome. Retrying with the same idempotency key is always safe.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    /// The queue is so long that a command would wait for too long. Nothing was written.
    #[error("the ledger's queue is full")]
    Full,
    /// Its time in the queue was over, or too many races were lost. Nothing was written.
    #[error("the ledger is overloaded")]
    Overloaded,
    /// Nothing was written.
    #[error("the ledger's database failed")]
    Database(#[source] Arc<sqlx::Error>),
    /// The connection broke during the commit, and the database did not recover in time to tell whether it happened.
    #[error("the outcome of the commit is not known yet")]
    Unknown,
    /// Postgres refused the batch, or could not be reached before it was sent. Nothing was written.
    #[error("the database refused the batch")]
    Refused(#[source] Arc<sqlx::Error>),
    /// A bug, logged where it happened. The commit may have happened.
    #[error("the ledger panicked")]
    Panicked,
    /// The host is shutting down. Nothing was written.
    #[error("the ledger is closed")]
    Closed,
}

impl From<sqlx::Error> for LedgerError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

impl LedgerError {
    /// Whether a single command may have failed the whole batch, of which nothing was written.
    pub(super) fn one_command_may_be_at_fault(&self) -> bool {
        matches!(self, Self::Refused(error) if !is_outage(error))
    }
}
