//! A batcher's own connection, kept from statement to statement while there is work.
//!
//! The pool asks a connection whether it is alive each time it hands it out or takes it back: for a batch, whose
//! statements take a millisecond or two, that would be as many round trips again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use sqlx::{PgConnection, PgPool, Postgres};

use crate::db::session::reply_within;

/// How long a reply of the database may take: longer than it lets a statement run, so that only a
/// connection that is dead without knowing it takes this long.
const REPLY_TIME_MAX: Duration = Duration::from_secs(12);

/// A connection when one is kept, and where others come from.
#[derive(Debug)]
pub(super) struct Connection {
    pool: PgPool,
    kept: Mutex<Option<PoolConnection<Postgres>>>,
}

impl Clone for Connection {
    fn clone(&self) -> Self {
        Self::new(self.pool.clone())
    }
}

impl Connection {
    pub(super) fn new(pool: PgPool) -> Self {
        Self { pool, kept: Mutex::new(None) }
    }

    /// The kept one, or another.
    pub(super) async fn get(&self) -> Result<PoolConnection<Postgres>, sqlx::Error> {
        match self.take() {
            Some(db) => Ok(db),
            None => self.pool.acquire().await,
        }
    }

    /// Runs `work` and keeps the connection for the next, unless it is of no more use. Whoever stops waiting for this
    /// leaves it to the pool, which sees what state it is in.
    pub(super) async fn run<T>(
        &self,
        mut db: PoolConnection<Postgres>,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let done = reply_within(&mut db, REPLY_TIME_MAX, work).await;
        if done.as_ref().err().is_none_or(|error| !ends_session(error)) {
            *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(db);
        }
        done
    }

    /// Nothing is kept any more.
    pub(super) fn give_back(&self) {
        drop(self.take());
    }

    fn take(&self) -> Option<PoolConnection<Postgres>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Whether a connection is of no more use after this.
fn ends_session(error: &sqlx::Error) -> bool {
    let database = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    database.is_none_or(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic))
}
