//! The seam between the ledger's decisions and where they are kept: look up, commit.
//!
//! [`Store`] is a trait so that a simulation can stand in for Postgres; [`Postgres`] is the only
//! other implementation. The SQL of the money path is all in this folder.

mod columns;
mod commit;
mod connection;
mod fate;
mod key;
mod lookup;
pub mod proof;

use std::future::Future;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Command;
use super::batch::{Batch, Context, State};
use super::chain::{ChainKey, Seal};
use super::writer::{self, Writer};
use connection::Connection;

/// Why a batch was not committed. Nothing of it was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Another transaction changed what the batch rests on: load again and decide again.
    #[error("the batch lost a race")]
    LostRace,
    /// Another writer continued this chain: lease one anew.
    #[error("the writer lost its chain")]
    LostChain,
    /// The connection broke: the batch may or may not be there.
    #[error("the outcome of the batch is unknown")]
    Unknown(#[source] sqlx::Error),
    /// Anything else; trying again does not help.
    #[error("the database refused the batch")]
    Refused(#[source] sqlx::Error),
}

/// Where the ledger's state lives.
pub trait Store: Clone + Send + Sync + 'static {
    /// Loads everything that the commands touch.
    fn lookup(
        &self,
        commands: &[Command],
        writer: &Writer,
        context: &Context,
    ) -> impl Future<Output = Result<State, sqlx::Error>> + Send;

    /// Writes a batch under the writer's next number, durably and wholly or not at all. The seal's
    /// `batch_id` is new for each attempt.
    fn commit(
        &self,
        batch: &Batch,
        seal: &Seal,
        context: &Context,
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Settles what became of an attempt that ended in [`CommitError::Unknown`].
    fn settle(&self, batch_id: Uuid, tombstone: &Seal) -> impl Future<Output = Result<Fate, sqlx::Error>> + Send;

    /// Leases a chain to a process; see [`writer::acquire`].
    fn acquire(&self, holder: Uuid, now: OffsetDateTime) -> impl Future<Output = Result<Writer, sqlx::Error>> + Send;

    /// Extends the lease; false when another process has the chain by now.
    fn renew(&self, writer: &Writer, now: OffsetDateTime) -> impl Future<Output = Result<bool, sqlx::Error>> + Send;

    /// Gives the chain back.
    fn release(&self, writer: &Writer) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Nothing waits to be looked up: what is held for the next batch may be given back.
    fn rest(&self);
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is there.
    Committed,
    /// It is not there and never will be; its number is used up.
    Never,
    /// It is not there and never will be; another writer continued the chain.
    LostChain,
}

/// The real store. Each batcher has a clone, and a clone has a connection of its own.
#[derive(Debug, Clone)]
pub struct Postgres(Connection);

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database failed.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    /// Its hashes are made with another key.
    #[error("the hashes of this ledger are made with another key: give this host the one that the others have")]
    OtherKey,
}

impl Postgres {
    /// On a ledger whose key is known to be the right one.
    pub fn new(pool: PgPool) -> Self {
        Self(Connection::new(pool))
    }

    /// Binds the ledger to a key when it has none yet, and otherwise makes sure that it is this one.
    ///
    /// # Errors
    /// When it is another one, or the database fails.
    pub async fn open(pool: PgPool, key: &ChainKey, now: OffsetDateTime) -> Result<Self, OpenError> {
        let ours = key.fingerprint();
        let bound = key::bind(&mut *pool.acquire().await?, &ours, now).await?;
        if bound == ours { Ok(Self::new(pool)) } else { Err(OpenError::OtherKey) }
    }

    /// Makes sure that a ledger's hashes, if it has any, are made with this key.
    ///
    /// # Errors
    /// When they are not, or the database fails.
    pub async fn check(pool: &PgPool, key: &ChainKey) -> Result<(), OpenError> {
        let bound = key::bound(&mut *pool.acquire().await?).await?;
        if bound.is_none_or(|bound| bound == key.fingerprint()) { Ok(()) } else { Err(OpenError::OtherKey) }
    }

    async fn within<T>(
        &self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        self.0.run(self.0.get().await?, work).await
    }
}

impl Store for Postgres {
    async fn lookup(&self, commands: &[Command], writer: &Writer, context: &Context) -> Result<State, sqlx::Error> {
        self.within(async |db| lookup::load(db, commands, writer, context).await).await
    }

    async fn commit(&self, batch: &Batch, seal: &Seal, context: &Context) -> Result<(), CommitError> {
        // Without a connection nothing can have been written.
        let db = self.0.get().await.map_err(CommitError::Refused)?;
        self.0.run(db, async |db| commit::write(db, batch, seal, context).await).await.map_err(fate::classify)
    }

    async fn settle(&self, batch_id: Uuid, tombstone: &Seal) -> Result<Fate, sqlx::Error> {
        self.within(async |db| fate::settle(db, batch_id, tombstone).await).await
    }

    async fn acquire(&self, holder: Uuid, now: OffsetDateTime) -> Result<Writer, sqlx::Error> {
        self.within(async |db| writer::acquire(db, holder, now).await).await
    }

    async fn renew(&self, writer: &Writer, now: OffsetDateTime) -> Result<bool, sqlx::Error> {
        self.within(async |db| writer::renew(db, writer, now).await).await
    }

    async fn release(&self, writer: &Writer) -> Result<(), sqlx::Error> {
        self.within(async |db| writer::release(db, writer).await).await
    }

    fn rest(&self) {
        self.0.give_back();
    }
}
