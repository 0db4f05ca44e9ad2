//! Follows the ledger for all listeners of a host.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{Mutex, broadcast};

use super::cursor::Cursor;
use super::listener::{ListenError, Listener, Slot, Slots, is_same_batch};
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::db::outbox::{self, Event, Offsets};
use crate::db::session::within;
use crate::metrics::Metrics;

/// A quarter of a host's 400 connections.
pub const LISTENERS_MAX: usize = 100;
/// For one user: a phone, a page and a few tabs.
pub const LISTENERS_EACH_MAX: usize = 5;

/// Events since a listener's cursor. A client that missed more should read the lists instead.
const BACKLOG_MAX: i64 = 10_000;

/// Batches queued for a slow listener before it is disconnected; it reconnects with its cursor.
const LAG_MAX: usize = 4_096;

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
    /// `None` once closed.
    tail: Arc<Mutex<Option<Tail>>>,
    slots: Slots,
    clock: Clock,
    metrics: Metrics,
}

struct Tail {
    /// How far batches were published; `None` while there are no listeners.
    offsets: Option<Offsets>,
    /// One message for each batch.
    batches: broadcast::Sender<Arc<[Event]>>,
}

impl Outbox {
    pub fn new(db: PgPool, barrier: Barrier, clock: Clock, metrics: Metrics) -> Self {
        let (batches, _) = broadcast::channel(LAG_MAX);
        let tail = Arc::new(Mutex::new(Some(Tail { offsets: None, batches })));
        Self { db, barrier, tail, slots: Arc::default(), clock, metrics }
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
        let Some(tail) = tail.as_mut() else { return Ok(()) };
        if tail.batches.receiver_count() == 0 {
            tail.offsets = None;
        }
        while let Some(offsets) = &tail.offsets {
            let read = async |db: &mut sqlx::PgConnection| outbox::read(db, offsets, PAGE_LENGTH).await;
            let view = self.barrier.begin();
            let (events, next) = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
            let is_end = next == *offsets;
            if !is_end {
                self.barrier.pass(view).await?;
            }
            let now = self.clock.now();
            for batch in events.chunk_by(is_same_batch) {
                self.metrics.outbox_lag.observe((now - batch[0].created_at).as_seconds_f64().max(0.0));
                // The last listener may have disconnected.
                let _ = tail.batches.send(batch.into());
            }
            tail.offsets = Some(next);
            if is_end {
                break;
            }
        }
        Ok(())
    }

    /// Listens to a user's events, starting at the cursor, or now without one.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub(crate) async fn listen(&self, owner: String, from: Option<Cursor>) -> Result<Listener, ListenError> {
        let slot = Slot::take(&self.slots, owner.clone(), LISTENERS_MAX, LISTENERS_EACH_MAX);
        let slot = slot?;
        let mut tail = self.tail.lock().await;
        let tail = tail.as_mut().ok_or(ListenError::Overloaded)?;
        let view = self.barrier.begin();
        let mut db = self.db.acquire().await?;
        // The lock keeps new batches from being published until this listener subscribes.
        let now = match tail.offsets.clone() {
            Some(offsets) => offsets,
            None => outbox::ends(&mut db).await?,
        };
        let cursor = from.unwrap_or_else(|| Cursor(now.clone()));
        let backlog = outbox::read_of(&mut db, &owner, &cursor.0, &now, BACKLOG_MAX + 1).await?;
        if backlog.len() as i64 > BACKLOG_MAX {
            return Err(ListenError::TooFarBack);
        }
        drop(db);
        self.barrier.pass(view).await?;
        tail.offsets = Some(now);
        Ok(Listener::new(cursor, backlog, tail.batches.subscribe(), slot))
    }

    /// Disconnects all listeners; `listen` fails from then on.
    pub async fn close(&self) {
        self.tail.lock().await.take();
    }
}
