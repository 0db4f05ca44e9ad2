//! Follows the ledger for all listeners of a host.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::PgPool;

use super::cursor::Cursor;
use super::listener::{Listener, is_same_batch};
use super::listeners::{ListenError, Listeners};
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::db::outbox::{self, Event, Position};
use crate::db::session::within;
use crate::metrics::Metrics;

/// Events since a listener's cursor. A client that missed more should read the lists instead. Also the transfers of a
/// user that are searched for them.
const BACKLOG_MAX: i64 = 10_000;
/// Batches that are searched for a user's events before the user's transfers are, if those are few: seconds of a busy
/// bank, which take a few milliseconds.
const BATCHES_NEAR: i64 = 1_000;
/// Batches that are searched for the events of a user with many transfers: minutes of a busy bank.
const BATCHES_MAX: i64 = 20_000;

/// Pause between two polls for new batches.
const POLL_EVERY: Duration = Duration::from_millis(200);
/// Batches read at a time.
const PAGE_LENGTH: i64 = 500;

/// Longest wait for a reply from the database.
pub(super) const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// Cheap to clone.
#[derive(Clone)]
pub struct Outbox {
    pub(super) db: PgPool,
    pub(super) barrier: Barrier,
    /// Never held while the database is asked.
    tail: Arc<Mutex<Tail>>,
    listeners: Listeners,
    clock: Clock,
    metrics: Metrics,
}

/// How far batches were published.
enum Tail {
    Closed,
    /// There are no listeners.
    Idle,
    At(Position),
}

impl Outbox {
    pub fn new(db: PgPool, barrier: Barrier, clock: Clock, metrics: Metrics) -> Self {
        let tail = Arc::new(Mutex::new(Tail::Idle));
        Self { db, barrier, tail, listeners: Listeners::default(), clock, metrics }
    }

    /// Publishes new batches while there are listeners. Can be aborted at any time.
    pub async fn run(self) {
        let mut every = tokio::time::interval(POLL_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if let Err(error) = self.poll().await {
                self.metrics.outbox_failures.inc();
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot read the outbox");
            }
        }
    }

    async fn poll(&self) -> Result<(), sqlx::Error> {
        while let Some(at) = self.published() {
            let view = self.barrier.begin();
            let read = async |db: &mut sqlx::PgConnection| outbox::read(db, &at, PAGE_LENGTH).await;
            let (events, next) = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
            if next == at {
                break;
            }
            self.barrier.pass(view).await?;
            let now = self.clock.now();
            for batch in events.chunk_by(is_same_batch) {
                self.metrics.outbox_lag.observe((now - batch[0].created_at).as_seconds_f64().max(0.0));
            }
            let mut tail = self.tail();
            if matches!(*tail, Tail::Closed) {
                break;
            }
            if next.history == at.history {
                let with_deposits = events.into_iter().flat_map(|event| [event.deposit(), Some(event)]).flatten();
                self.listeners.publish(with_deposits.collect(), next.clone());
                *tail = Tail::At(next);
            } else {
                // A loss was accepted: all cursors are of another history.
                self.listeners.disconnect();
                *tail = Tail::Idle;
            }
        }
        Ok(())
    }

    /// How far batches were published, if anybody listens.
    fn published(&self) -> Option<Position> {
        let mut tail = self.tail();
        if self.listeners.is_empty() && matches!(*tail, Tail::At(_)) {
            *tail = Tail::Idle;
        }
        if let Tail::At(at) = &*tail { Some(at.clone()) } else { None }
    }

    /// Listens to a user's events, starting at the cursor, or now without one.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub async fn listen(&self, owner: String, from: Option<Cursor>) -> Result<Listener, ListenError> {
        let live = self.listeners.subscribe(&owner)?;
        // What is published after this reaches the listener, what was published before is its backlog.
        let at = match &*self.tail() {
            Tail::Closed => return Err(ListenError::Overloaded),
            Tail::Idle => None,
            Tail::At(at) => Some(at.clone()),
        };
        let mut now = match at {
            Some(at) => at,
            None => self.begin().await?,
        };
        let Some(Cursor(mut cursor)) = from else {
            return Ok(Listener::new(Cursor(now.clone()), Vec::new(), now, live));
        };
        if !now.follows(&cursor) {
            // Another host may have published more.
            now = self.ends().await?;
            if !now.follows(&cursor) {
                return Err(ListenError::Expired);
            }
        }
        cursor.history = now.history;
        let backlog = match now.batches_since(&cursor) {
            0 => Vec::new(),
            batches => self.backlog(&owner, &cursor, &now, batches).await?,
        };
        Ok(Listener::new(Cursor(cursor), backlog, now, live))
    }

    /// Begins to publish, unless another listener has begun; returns how far batches were published.
    async fn begin(&self) -> Result<Position, ListenError> {
        let ends = self.ends().await?;
        let mut tail = self.tail();
        match &*tail {
            Tail::Closed => return Err(ListenError::Overloaded),
            Tail::At(at) => return Ok(at.clone()),
            Tail::Idle => *tail = Tail::At(ends.clone()),
        }
        Ok(ends)
    }

    async fn ends(&self) -> Result<Position, sqlx::Error> {
        let view = self.barrier.begin();
        let ends = within(self.db.acquire().await?, REPLY_TIME_MAX, outbox::ends).await?;
        self.barrier.pass(view).await?;
        Ok(ends)
    }

    /// A user's events from `cursor` to `now`. Neither the length of the history nor the number of the user's transfers
    /// matters beyond the limits.
    async fn backlog(
        &self,
        owner: &str,
        cursor: &Position,
        now: &Position,
        batches: i64,
    ) -> Result<Vec<Event>, ListenError> {
        let view = self.barrier.begin();
        let read = async |db: &mut sqlx::PgConnection| {
            let has_few = batches > BATCHES_NEAR && !outbox::has_more_transfers(db, owner, BACKLOG_MAX).await?;
            if batches > BATCHES_MAX && !has_few {
                return Ok(None);
            }
            outbox::read_of(db, owner, cursor, now, has_few, BACKLOG_MAX + 1).await.map(Some)
        };
        let backlog = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
        let backlog = backlog.filter(|events| events.len() as i64 <= BACKLOG_MAX).ok_or(ListenError::TooFarBack)?;
        self.barrier.pass(view).await.map_err(sqlx::Error::from)?;
        Ok(backlog)
    }

    /// Whether streams have to end.
    pub fn is_closed(&self) -> bool {
        matches!(*self.tail(), Tail::Closed)
    }

    /// Disconnects all listeners; `listen` fails from then on.
    pub fn close(&self) {
        *self.tail() = Tail::Closed;
        self.listeners.disconnect();
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
