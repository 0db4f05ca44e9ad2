//! The seam between the ledger's decisions and where they are kept: look up, commit.
//!
//! [`Store`] is a trait so that a simulation can stand in for Postgres; [`Postgres`] is the only
//! other implementation. The SQL of the money path is all in this folder.

mod commit;
mod lookup;

use std::future::Future;
use std::time::Duration;

use sqlx::PgPool;
use tokio::time::timeout;
use uuid::Uuid;

use super::Command;
use super::batch::{Batch, Context, State};
use super::writer::Writer;

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

    /// Writes a batch under the writer's next number, durably and wholly or not at all.
    fn commit(
        &self,
        batch: &Batch,
        writer: &Writer,
        context: &Context,
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Whether a batch with this number is there: the answer to [`CommitError::Unknown`].
    fn is_committed(&self, chain_id: Uuid, seq: i64) -> impl Future<Output = Result<bool, sqlx::Error>> + Send;
}

/// How long a reply of the database may take: longer than it lets a statement run, so that only a
/// connection that is dead without knowing it takes this long.
const REPLY_TIME_MAX: Duration = Duration::from_secs(25);

fn no_reply() -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "the database does not reply"))
}

/// The real store.
#[derive(Debug, Clone)]
pub struct Postgres(pub PgPool);

impl Store for Postgres {
    async fn lookup(&self, commands: &[Command], writer: &Writer, context: &Context) -> Result<State, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let loaded = timeout(REPLY_TIME_MAX, lookup::load(&mut db, commands, writer, context)).await;
        loaded.unwrap_or_else(|_| {
            db.close_on_drop();
            Err(no_reply())
        })
    }

    async fn commit(&self, batch: &Batch, writer: &Writer, context: &Context) -> Result<(), CommitError> {
        // No connection yet: nothing can have been written.
        let mut db = self.0.acquire().await.map_err(CommitError::Refused)?;
        let written = timeout(REPLY_TIME_MAX, commit::write(&mut db, batch, writer, context)).await;
        let written = written.unwrap_or_else(|_| {
            db.close_on_drop();
            Err(no_reply())
        });
        written.map_err(commit::classify)
    }

    async fn is_committed(&self, chain_id: Uuid, seq: i64) -> Result<bool, sqlx::Error> {
        sqlx::query_scalar!(
            r#"select exists (select from ledger_batch where chain_id = $1 and seq = $2) as "exists!""#,
            chain_id,
            seq,
        )
        .fetch_one(&self.0)
        .await
    }
}
