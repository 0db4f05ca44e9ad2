//! A batcher's own connection, held between statements while there is work.
//!
//! The pool pings a connection on every acquire and release. A batch's statements take a millisecond or two,
//! so pings would double the round trips.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use sqlx::{PgConnection, PgPool, Postgres};

use crate::db::session::reply_within;

/// Longest wait for a reply: more than the statement timeout, so that only a dead connection exceeds it.
const REPLY_TIME_MAX: Duration = Duration::from_secs(12);

#[derive(Debug)]
pub(super) struct Connection {
    pool: PgPool,
    held: Mutex<Option<PoolConnection<Postgres>>>,
}

/// A clone shares the pool but not the held connection.
impl Clone for Connection {
    fn clone(&self) -> Self {
        Self::new(self.pool.clone())
    }
}

impl Connection {
    pub(super) fn new(pool: PgPool) -> Self {
        Self { pool, held: Mutex::new(None) }
    }

    /// The held connection, or a new one.
    pub(super) async fn get(&self) -> Result<PoolConnection<Postgres>, sqlx::Error> {
        match self.take() {
            Some(db) => Ok(db),
            None => self.pool.acquire().await,
        }
    }

    /// Runs `work` and then holds the connection, unless it is unusable. If the future is dropped, the
    /// connection returns to the pool, which checks its state.
    pub(super) async fn run<T>(
        &self,
        mut db: PoolConnection<Postgres>,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let result = reply_within(&mut db, REPLY_TIME_MAX, work).await;
        if result.as_ref().err().is_none_or(|error| !ends_session(error)) {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(db);
        }
        result
    }

    /// Returns the held connection to the pool.
    pub(super) fn release(&self) {
        drop(self.take());
    }

    fn take(&self) -> Option<PoolConnection<Postgres>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Whether the connection is unusable after this error.
fn ends_session(error: &sqlx::Error) -> bool {
    let database = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    database.is_none_or(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic))
}
