//! A batcher's own connection, held between statements while there is work.
//!
//! The pool pings a connection on every acquire and release. A batch's statements take a millisecond or two,
//! so pings would double the round trips.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use time::OffsetDateTime;
use tokio::time::timeout;

use crate::db::session::reply_within;
use crate::db::timeline::{Timeline, View};

/// Longest wait for a reply: more than the statement timeout, so that only a dead connection exceeds it.
const REPLY_TIME_MAX: Duration = Duration::from_secs(12);

/// A connection, and the newest timeline before it was taken from the pool.
type Held = (View, PoolConnection<Postgres>);

#[derive(Debug)]
pub(super) struct Connection {
    pool: PgPool,
    timeline: Timeline,
    held: Mutex<Option<Held>>,
    /// Begun by a look-up with locks, for its commit.
    begun: Mutex<Option<Transaction<'static, Postgres>>>,
    /// When the last look-up read, by the server's clock.
    looked_up_at: Mutex<Option<OffsetDateTime>>,
    /// Before the last look-up.
    looked_up: Mutex<View>,
}

/// A clone shares the pool but not the held connection.
impl Clone for Connection {
    fn clone(&self) -> Self {
        Self::new(self.pool.clone(), self.timeline.clone())
    }
}

impl Connection {
    /// `timeline` is that of the pool's connections.
    pub(super) fn new(pool: PgPool, timeline: Timeline) -> Self {
        Self {
            pool,
            timeline,
            held: Mutex::default(),
            begun: Mutex::default(),
            looked_up: Mutex::default(),
            looked_up_at: Mutex::default(),
        }
    }

    pub(super) fn on(self, timeline: Timeline) -> Self {
        Self::new(self.pool, timeline)
    }

    pub(super) fn look_up_since(&self, view: View) {
        *self.looked_up.lock().unwrap_or_else(PoisonError::into_inner) = view;
    }

    pub(super) fn looked_up_since(&self) -> View {
        *self.looked_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The held connection, or a new one.
    pub(super) async fn get(&self) -> Result<Held, sqlx::Error> {
        let view = self.timeline.view();
        // The pool looks at an older one itself.
        match self.take().filter(|(since, _)| *since == view) {
            Some(held) => Ok(held),
            None => Ok((view, self.pool.acquire().await?)),
        }
    }

    /// Runs `work` and then holds the connection, unless it is unusable. If the future is dropped, the
    /// connection returns to the pool, which checks its state.
    pub(super) async fn run<T>(
        &self,
        (view, mut db): Held,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let result = reply_within(&mut db, REPLY_TIME_MAX, work).await;
        if result.as_ref().err().is_none_or(|error| !ends_session(error)) {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some((view, db));
        }
        result
    }

    /// Runs `work` in a new transaction, which stays open if it succeeds.
    pub(super) async fn begin<T>(
        &self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        let result = in_time(work(&mut transaction)).await?;
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(transaction);
        Ok(result)
    }

    /// The open transaction. Dropping it rolls it back.
    pub(super) fn take_begun(&self) -> Option<Transaction<'static, Postgres>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs `work` in a transaction and commits it.
    pub(super) async fn commit(
        mut transaction: Transaction<'static, Postgres>,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<(), sqlx::Error>,
    ) -> Result<(), sqlx::Error> {
        in_time(async {
            work(&mut transaction).await?;
            transaction.commit().await
        })
        .await
    }

    pub(super) fn looked_up(&self, at: OffsetDateTime) {
        *self.looked_up_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    pub(super) fn looked_up_at(&self) -> Option<OffsetDateTime> {
        *self.looked_up_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the held connection to the pool.
    pub(super) fn release(&self) {
        drop(self.take());
        drop(self.take_begun());
    }

    fn take(&self) -> Option<Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    let silent = || std::io::Error::new(std::io::ErrorKind::TimedOut, "the database did not reply");
    timeout(REPLY_TIME_MAX, work).await.unwrap_or_else(|_| Err(sqlx::Error::Io(silent())))
}

/// Whether the connection is unusable after this error.
fn ends_session(error: &sqlx::Error) -> bool {
    let database = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    database.is_none_or(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic))
}
