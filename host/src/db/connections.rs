//! How requests share the pool: they take turns, which leaves some connections to the ledger, and the queue for a turn
//! is short, so that excess requests are refused at once.
//!
//! A connection that goes back to the pool is asked whether it still responds, which costs as much as a short read. A
//! read that is done passes its connection to the next one instead ([`Connection::pass_on`]).

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::telemetry::SPANS;

/// Requests leave one connection in this many to the batchers, the courier and other tasks that move money.
const RESERVED_OF: usize = 4;

/// Requests that wait for each connection that requests may use. A query takes a millisecond or two, so the last of
/// them waits for about 25 ms.
pub const WAITING_EACH_MAX: usize = 16;

/// How long after its last use a connection is assumed to be open. If the server stops within that time, the requests
/// that discover it get 503, like those that arrive while it is down.
pub(crate) const IDLE_TRUSTED: Duration = Duration::from_secs(1);

/// How long a connection is passed on in all, before the pool sees it again and may replace it.
const PASSED_ON: Duration = Duration::from_secs(60);

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
    /// `None` for operators, who do not queue behind customers.
    turns: Option<Arc<Turns>>,
}

struct Turns {
    running: Arc<Semaphore>,
    waiting: Semaphore,
    /// `None` if connections go back to the pool.
    passed: Mutex<Option<Vec<Passed>>>,
}

/// A connection for the next turn.
struct Passed {
    db: PoolConnection<Postgres>,
    /// When the pool gave it.
    since: Instant,
    at: Instant,
}

/// A connection, and the turn to use it.
pub struct Connection {
    db: PoolConnection<Postgres>,
    since: Instant,
    turn: Option<(Arc<Turns>, OwnedSemaphorePermit)>,
}

impl Connections {
    /// `passes` says whether connections are passed on: not where each has to be checked before it is used again.
    pub fn new(pool: PgPool, passes: bool) -> Self {
        let all = usize::try_from(pool.options().get_max_connections()).unwrap_or(usize::MAX);
        let running = (all - all.div_ceil(RESERVED_OF)).max(1);
        let waiting = Semaphore::new(running.saturating_mul(WAITING_EACH_MAX).min(Semaphore::MAX_PERMITS));
        let running = Arc::new(Semaphore::new(running.min(Semaphore::MAX_PERMITS)));
        let turns = Arc::new(Turns { running, waiting, passed: Mutex::new(passes.then(Vec::new)) });
        if passes {
            tokio::spawn(return_unused(pool.clone(), Arc::downgrade(&turns)));
        }
        Self { pool, turns: Some(turns) }
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
            let Some(turns) = &self.turns else {
                return Ok(Connection { db: self.pool.acquire().await?, since: Instant::now(), turn: None });
            };
            let turn = turns.take(self.pool.options().get_acquire_timeout()).await?;
            let turn = Some((Arc::clone(turns), turn));
            let passed = turns.passed().as_mut().and_then(Vec::pop);
            if let Some(Passed { db, since, .. }) = passed {
                return Ok(Connection { db, since, turn });
            }
            Ok(Connection { db: self.pool.acquire().await?, since: Instant::now(), turn })
        };
        acquire.instrument(tracing::debug_span!(target: SPANS, "connection")).await
    }
}

/// Returns to the pool the connections that no request took, and all of them when the pool closes.
async fn return_unused(pool: PgPool, turns: Weak<Turns>) {
    let mut is_open = true;
    while is_open {
        is_open = timeout(IDLE_TRUSTED, pool.close_event()).await.is_err();
        let Some(turns) = turns.upgrade() else { return };
        let mut passed = turns.passed();
        if is_open {
            passed.iter_mut().for_each(|passed| passed.retain(|it| it.at.elapsed() < IDLE_TRUSTED));
        } else {
            *passed = None;
        }
    }
}

impl Connection {
    /// Hands the connection to the next request. Call this only once every statement is done: nothing checks.
    pub fn pass_on(self) {
        let Self { db, since, turn: Some((turns, turn)) } = self else { return };
        if since.elapsed() < PASSED_ON
            && let Some(passed) = turns.passed().as_mut()
        {
            passed.push(Passed { db, since, at: Instant::now() });
        }
        // The connection is there before the turn is free.
        drop(turn);
    }
}

impl Turns {
    fn passed(&self) -> MutexGuard<'_, Option<Vec<Passed>>> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }

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
        let (running, waiting) = (Arc::new(Semaphore::new(2)), Semaphore::new(3));
        let turns = Turns { running, waiting, passed: Mutex::new(None) };
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
