//! How requests share the pool's connections: in turns, so that they leave some to the ledger, and with few waiting, so that
//! one too many learns it at once.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::telemetry::SPANS;

/// Of how many connections requests leave one to the batchers, the courier and other tasks, which move money.
const RESERVED_OF: usize = 4;

/// Requests that wait for each connection that requests may use. A query takes a millisecond or two, so the last of them
/// waits for about 25 ms.
pub const WAITING_EACH_MAX: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// Too many requests wait already.
    #[error("too many requests wait for the database")]
    Busy,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// A pool whose connections are taken in turns. Derefs to the pool, for what has to take one at once.
#[derive(Clone)]
pub struct Connections {
    pool: PgPool,
    /// `None` for operators, who do not queue behind customers.
    turns: Option<Arc<Turns>>,
}

struct Turns {
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

/// A connection, and the turn to use it.
pub struct Connection {
    db: PoolConnection<Postgres>,
    _turn: Option<OwnedSemaphorePermit>,
}

impl Connections {
    pub fn new(pool: PgPool) -> Self {
        let all = usize::try_from(pool.options().get_max_connections()).unwrap_or(usize::MAX);
        let running = (all - all.div_ceil(RESERVED_OF)).max(1);
        let waiting = Semaphore::new(running.saturating_mul(WAITING_EACH_MAX).min(Semaphore::MAX_PERMITS));
        let running = Arc::new(Semaphore::new(running.min(Semaphore::MAX_PERMITS)));
        Self { pool, turns: Some(Arc::new(Turns { running, waiting })) }
    }

    /// The same pool, without turns.
    #[must_use]
    pub fn without_turns(&self) -> Self {
        Self { pool: self.pool.clone(), turns: None }
    }

    /// # Errors
    /// See [`AcquireError`].
    pub async fn acquire(&self) -> Result<Connection, AcquireError> {
        let acquire = async {
            let turn = match &self.turns {
                Some(turns) => Some(turns.take(self.pool.options().get_acquire_timeout()).await?),
                None => None,
            };
            Ok(Connection { db: self.pool.acquire().await?, _turn: turn })
        };
        acquire.instrument(tracing::debug_span!(target: SPANS, "connection")).await
    }
}

impl Turns {
    async fn take(&self, longest: std::time::Duration) -> Result<OwnedSemaphorePermit, AcquireError> {
        if let Ok(turn) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(turn);
        }
        let _place = self.waiting.try_acquire().map_err(|_| AcquireError::Busy)?;
        match timeout(longest, Arc::clone(&self.running).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(sqlx::Error::PoolTimedOut.into()),
        }
    }
}

impl Deref for Connections {
    type Target = PgPool;

    fn deref(&self) -> &PgPool {
        &self.pool
    }
}

impl Deref for Connection {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.db
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.db
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use futures_util::future::join_all;
    use std::time::Duration;

    /// The patience of requests with a turn.
    const LONGEST: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn one_too_many_learns_it_at_once_and_the_others_get_their_turn() {
        let turns = Turns { running: Arc::new(Semaphore::new(2)), waiting: Semaphore::new(3) };
        let running = join_all([turns.take(LONGEST), turns.take(LONGEST)]).await;
        let mut waiting: Vec<_> = (0..3).map(|_| turns.take(LONGEST).boxed()).collect();
        assert!(waiting.iter_mut().all(|it| it.now_or_never().is_none()));
        assert!(matches!(turns.take(LONGEST).await, Err(AcquireError::Busy)));
        drop(running);
        let first = join_all(waiting.drain(..2)).await;
        assert!(first.iter().all(Result::is_ok));
        assert!(matches!(waiting.remove(0).await, Err(AcquireError::Database(sqlx::Error::PoolTimedOut))));
        drop(first);
        assert!(turns.take(LONGEST).await.is_ok());
    }
}
