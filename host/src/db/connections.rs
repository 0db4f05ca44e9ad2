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

/// Requests leave one connection in this many to the batchers, the courier and other tasks that move money, of which
/// orders take at most half when no other is free.
const RESERVED_OF: usize = 4;

/// Operators have one connection in this many to themselves: they do not queue behind customers, nor do customers wait
/// for them.
const OPERATORS_OF: usize = 8;

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
    turns: Arc<Turns>,
    is_for_operators: bool,
}

struct Turns {
    requests: Lane,
    orders: Lane,
    operators: Lane,
    /// `None` if connections go back to the pool.
    passed: Mutex<Option<Vec<Passed>>>,
}

/// A queue of its own for some connections.
struct Lane {
    running: Arc<Semaphore>,
    waiting: Semaphore,
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
    turn: (Arc<Turns>, OwnedSemaphorePermit),
}

impl Connections {
    /// `passes` says whether connections are passed on: not where each has to be checked before it is used again.
    pub fn new(pool: PgPool, passes: bool) -> Self {
        let all = usize::try_from(pool.options().get_max_connections()).unwrap_or(usize::MAX);
        let (reserved, operators) = (all.div_ceil(RESERVED_OF), all.div_ceil(OPERATORS_OF));
        let turns = Arc::new(Turns {
            requests: Lane::new(all.saturating_sub(reserved + operators)),
            orders: Lane::new(reserved / 2),
            operators: Lane::new(operators),
            passed: Mutex::new(passes.then(Vec::new)),
        });
        if passes {
            tokio::spawn(return_unused(pool.clone(), Arc::downgrade(&turns)));
        }
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
            let turn = (Arc::clone(&self.turns), turn.await?);
            let passed = self.turns.passed().as_mut().and_then(Vec::pop);
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
        let Self { db, since, turn: (turns, turn) } = self;
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
