//! Follows the ledger for all listeners of a host.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Mutex;

use super::cursor::Cursor;
use super::listener::{Listener, is_same_batch};
use super::listeners::{ListenError, Listeners};
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::db::outbox::{self, Offsets};
use crate::db::session::within;
use crate::metrics::Metrics;

/// Events since a listener's cursor. A client that missed more should read the lists instead.
const BACKLOG_MAX: i64 = 10_000;

/// Pause between two polls for new batches.
const POLL_EVERY: Duration = Duration::from_millis(200);
/// Batches read at a time.
const PAGE_LENGTH: i64 = 500;

/// Longest wait for a reply from the database.
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// Cheap to clone.
#[derive(Clone)]
pub struct Outbox {
    db: PgPool,
    barrier: Barrier,
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
    At(Offsets),
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
        let mut tail = self.tail.lock().await;
        if self.listeners.is_empty() && matches!(*tail, Tail::At(_)) {
            *tail = Tail::Idle;
        }
        while let Tail::At(offsets) = &*tail {
            let read = async |db: &mut sqlx::PgConnection| outbox::read(db, offsets, PAGE_LENGTH).await;
            let view = self.barrier.begin();
            let (events, next) = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
            if next == *offsets {
                break;
            }
            self.barrier.pass(view).await?;
            let now = self.clock.now();
            for batch in events.chunk_by(is_same_batch) {
                self.metrics.outbox_lag.observe((now - batch[0].created_at).as_seconds_f64().max(0.0));
            }
            self.listeners.publish(events);
            *tail = Tail::At(next);
        }
        Ok(())
    }

    /// Listens to a user's events, starting at the cursor, or now without one.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub(crate) async fn listen(&self, owner: String, from: Option<Cursor>) -> Result<Listener, ListenError> {
        let live = self.listeners.subscribe(&owner)?;
        let mut tail = self.tail.lock().await;
        if matches!(*tail, Tail::Closed) {
            return Err(ListenError::Overloaded);
        }
        let view = self.barrier.begin();
        // The lock keeps new batches from being published until this listener has read up to here.
        let read = async |db: &mut sqlx::PgConnection| {
            let now = match &*tail {
                Tail::At(offsets) => offsets.clone(),
                _ => outbox::ends(db).await?,
            };
            let cursor = from.unwrap_or_else(|| Cursor(now.clone()));
            let backlog = outbox::read_of(db, &owner, &cursor.0, &now, BACKLOG_MAX + 1).await?;
            Ok((now, cursor, backlog))
        };
        let (now, cursor, backlog) = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
        if backlog.len() as i64 > BACKLOG_MAX {
            return Err(ListenError::TooFarBack);
        }
        self.barrier.pass(view).await.map_err(sqlx::Error::from)?;
        *tail = Tail::At(now);
        Ok(Listener::new(cursor, backlog, live))
    }

    /// Disconnects all listeners; `listen` fails from then on.
    pub async fn close(&self) {
        // At once, because whoever has the lock may be waiting for the database.
        self.listeners.disconnect();
        *self.tail.lock().await = Tail::Closed;
        self.listeners.disconnect();
    }
}
