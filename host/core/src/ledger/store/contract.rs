//! What the ledger requires of a store.

use std::collections::BTreeSet;
use std::future::Future;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::ledger::batch::{Batch, Context, Row, State};
use crate::ledger::chain::Seal;
use crate::ledger::command::Command;
use crate::ledger::writer::Writer;

/// Storage of the ledger's state: Postgres, or a simulation's model of it.
pub trait Store: Clone + Send + Sync + 'static {
    /// Loads everything that the commands touch. No other writer changes the rows in `locked` until the next
    /// [`commit`](Self::commit), [`confirm`](Self::confirm) or look-up. Locks are granted in the order of
    /// the requests, so a batch that holds them loses no race for these rows.
    fn lookup(
        &self,
        commands: &[Command],
        writer: &Writer,
        context: &Context,
        locked: &BTreeSet<Row>,
    ) -> impl Future<Output = Result<State, sqlx::Error>> + Send;

    /// Commits a batch at the writer's next sequence number, durably and atomically. Each attempt needs a new
    /// `batch_id` in its seal. Rows are locked in the order of [`Row`], then the totals of payees. A batch that was
    /// decided long ago, by a host that was paused, loses the race.
    fn commit(
        &self,
        batch: &Batch,
        seal: &Seal,
        context: &Context,
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Resolves an attempt that failed with [`CommitError::Unknown`].
    fn settle(&self, batch_id: Uuid, tombstone: &Seal) -> impl Future<Output = Result<Fate, sqlx::Error>> + Send;

    /// Completes once everything that look-ups have shown so far is confirmed as durably as a commit.
    fn confirm(&self) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// The time of the store's own clock.
    fn now(&self) -> impl Future<Output = Result<OffsetDateTime, sqlx::Error>> + Send;

    /// Leases a free chain, or creates one. Fails with a unique violation if another host created the same stripe at
    /// the same moment; the caller retries.
    fn acquire(&self, holder: Uuid, now: OffsetDateTime) -> impl Future<Output = Result<Writer, sqlx::Error>> + Send;

    /// Extends the lease; false if another holder has since acquired the chain.
    fn renew(&self, writer: &Writer, now: OffsetDateTime) -> impl Future<Output = Result<bool, sqlx::Error>> + Send;

    /// Releases the lease, so that another holder can continue the chain at once.
    fn release(&self, writer: &Writer) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Called when no command is queued, so that the store can release what it holds for the next batch.
    fn idle(&self);
}

/// Why a batch was not committed. Except for `Unknown`, nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Another transaction changed what the batch relied on: load and decide again.
    #[error("the batch lost a race")]
    LostRace,
    /// Another writer extended this chain: lease another.
    #[error("the writer lost its chain")]
    LostChain,
    /// The connection broke: the batch may or may not be committed.
    #[error("the outcome of the batch is unknown")]
    Unknown(#[source] sqlx::Error),
    /// Anything else; retrying does not help.
    #[error("the database refused the batch")]
    Refused(#[source] sqlx::Error),
}

/// The resolved outcome of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Committed,
    /// Not committed, and never will be: a tombstone took its sequence number.
    Never,
    /// Not committed, and never will be: another writer extended the chain.
    LostChain,
}
