//! The seam between the ledger's decisions and where they are kept: look up, commit.
//!
//! [`Store`] is a trait so that a simulation can stand in for Postgres; [`Postgres`] is the only
//! other implementation. The SQL of the money path is all in this folder.

mod columns;
mod commit;
mod fate;
mod lookup;

use std::future::Future;
use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Command;
use super::batch::{Batch, Context, State};
use super::writer::Writer;
use crate::db::session::within;

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
pub trait Store: Send + Sync + 'static {
    /// Loads everything that the commands touch.
    fn lookup(
        &self,
        commands: &[Command],
        writer: &Writer,
        context: &Context,
    ) -> impl Future<Output = Result<State, sqlx::Error>> + Send;

    /// Writes a batch under the writer's next number, durably and wholly or not at all. `batch_id`
    /// is new for each attempt.
    fn commit(
        &self,
        batch: &Batch,
        batch_id: Uuid,
        writer: &Writer,
        context: &Context,
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Settles what became of an attempt that ended in [`CommitError::Unknown`].
    fn settle(
        &self,
        batch_id: Uuid,
        writer: &Writer,
        now: OffsetDateTime,
    ) -> impl Future<Output = Result<Fate, sqlx::Error>> + Send;
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

/// How long a reply of the database may take: longer than it lets a statement run, so that only a
/// connection that is dead without knowing it takes this long.
const REPLY_TIME_MAX: Duration = Duration::from_secs(12);

/// The real store.
#[derive(Debug, Clone)]
pub struct Postgres(pub PgPool);

impl Postgres {
    /// Runs `work` on a connection of the pool.
    pub(super) async fn within<T>(
        &self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        within(self.0.acquire().await?, REPLY_TIME_MAX, work).await
    }
}

impl Store for Postgres {
    async fn lookup(&self, commands: &[Command], writer: &Writer, context: &Context) -> Result<State, sqlx::Error> {
        self.within(async |db| lookup::load(db, commands, writer, context).await).await
    }

    async fn commit(
        &self,
        batch: &Batch,
        batch_id: Uuid,
        writer: &Writer,
        context: &Context,
    ) -> Result<(), CommitError> {
        // Without a connection nothing can have been written.
        let db = self.0.acquire().await.map_err(CommitError::Refused)?;
        let written =
            within(db, REPLY_TIME_MAX, async |db| commit::write(db, batch, batch_id, writer, context).await).await;
        written.map_err(fate::classify)
    }

    async fn settle(&self, batch_id: Uuid, writer: &Writer, now: OffsetDateTime) -> Result<Fate, sqlx::Error> {
        self.within(async |db| fate::settle(db, batch_id, writer, now).await).await
    }
}
