//! How requests share the pool: they take turns, which leaves some connections to the ledger, and the queue for a turn
//! is short, so that excess requests are refused at once.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::telemetry::SPANS;

/// Requests leave one connection in this many to the batchers, the courier and other tasks that move money, of which
/// orders take at most half when no other is free.
const RESERVED_OF: usize = 4;

/// Operators have one connection in this many to themselves: they do not queue behind customers, nor do customers wait
/// for them.
const OPERATORS_OF: usize = 8;

/// Requests that wait for each connection that requests may use. A query takes a millisecond or two, so the last of
/// them waits for about 25 ms.
pub const WAITING_EACH_MAX: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// Too many requests wait already.
    #[error("too many requests are waiting for the database")]
    Busy,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// A pool whose connections are taken in turns. Derefs to the pool, for what has to take one at once.
#[derive(Clone)]
pub struct Connections {
    pool: PgPool,
    turns: Arc<Turns>,
    is_for_operators: bool,
}

struct Turns {
    requests: Lane,
    orders: Lane,
    operators: Lane,
}

/// A queue of its own for some connections.
struct Lane {
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

/// A connection, and the turn to use it.
pub struct Connection {
    db: PoolConnection<Postgres>,
    _turn: OwnedSemaphorePermit,
}

impl Connections {
    pub fn new(pool: PgPool) -> Self {
        let all = usize::try_from(pool.options().get_max_connections()).unwrap_or(usize::MAX);
        let (reserved, operators) = (all.div_ceil(RESERVED_OF), all.div_ceil(OPERATORS_OF));
        let turns = Arc::new(Turns {
            requests: Lane::new(all.saturating_sub(reserved + operators)),
            orders: Lane::new(reserved / 2),
            operators: Lane::new(operators),
        });
        Self { pool, turns, is_for_operators: false }
    }

    /// The same pool, for operators.
    #[must_use]
    pub fn for_operators(&self) -> Self {
        Self { is_for_operators: true, ..self.clone() }
    }

    /// # Errors
    /// See [`AcquireError`].
    pub async fn acquire(&self) -> Result<Connection, AcquireError> {
        let lane = if self.is_for_operators { &self.turns.operators } else { &self.turns.requests };
        self.acquire_after(lane.take(self.patience())).await
    }

    /// For what an order needs: of the connections that are kept for money if requests use all others.
    ///
    /// # Errors
    /// See [`AcquireError`].
    pub async fn acquire_for_order(&self) -> Result<Connection, AcquireError> {
        let turn = async {
            match self.turns.requests.take_at_once() {
                Some(turn) => Ok(turn),
                None => self.turns.orders.take(self.patience()).await,
            }
        };
        self.acquire_after(turn).await
    }

    fn patience(&self) -> Duration {
        self.pool.options().get_acquire_timeout()
    }

    async fn acquire_after(
        &self,
        turn: impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>>,
    ) -> Result<Connection, AcquireError> {
        let acquire = async {
            let turn = turn.await?;
            Ok(Connection { db: self.pool.acquire().await?, _turn: turn })
        };
        acquire.instrument(tracing::debug_span!(target: SPANS, "connection")).await
    }
}

impl Lane {
    fn new(connections: usize) -> Self {
        let running = connections.clamp(1, Semaphore::MAX_PERMITS / WAITING_EACH_MAX);
        Self { running: Arc::new(Semaphore::new(running)), waiting: Semaphore::new(running * WAITING_EACH_MAX) }
    }

    fn take_at_once(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.running).try_acquire_owned().ok()
    }

    async fn take(&self, longest: Duration) -> Result<OwnedSemaphorePermit, AcquireError> {
        if let Some(turn) = self.take_at_once() {
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
    /// The patience of requests with a turn.
    const LONGEST: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn one_too_many_learns_it_at_once_and_the_others_get_their_turn() {
        let turns = Lane { running: Arc::new(Semaphore::new(2)), waiting: Semaphore::new(3) };
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
