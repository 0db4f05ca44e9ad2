//! Moves queued events to the store in batches, if their users still consent.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::db::events;
use crate::db::session::checked_time;

/// One statement of a few milliseconds.
const BATCH_LENGTH_MAX: i64 = 500;

/// Longest delay of an event that did not wake the worker: queued before a restart or by another host.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// Long enough for quarterly reports, and no longer than their purpose requires.
const RETENTION_DAYS: i64 = 90;

const PURGE_EVERY: Duration = Duration::from_secs(3600);

/// A handle to the worker; cheap to clone.
#[derive(Clone, Default)]
pub struct EventWorker {
    woken: Arc<Notify>,
}

impl EventWorker {
    /// Starts the worker. Its task can be aborted at any time: each step is one statement, and events not yet
    /// stored stay queued.
    pub fn start(db: PgPool, clock: Clock) -> (Self, JoinHandle<()>) {
        let worker = Self::default();
        let task = tokio::spawn(run(worker.clone(), db, clock));
        (worker, task)
    }

    /// Call this after queueing an event.
    pub fn wake(&self) {
        self.woken.notify_one();
    }
}

async fn run(worker: EventWorker, db: PgPool, clock: Clock) {
    let mut purge = tokio::time::interval(PURGE_EVERY);
    loop {
        if let Err(error) = store_all(&db, &clock).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot store queued events");
        }
        tokio::select! {
            () = worker.woken.notified() => {}
            () = tokio::time::sleep(POLL_EVERY) => {}
            _ = purge.tick() => {
                if let Err(error) = delete_expired(&db, &clock).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot delete expired events");
                }
            }
        }
    }
}

async fn store_all(pool: &PgPool, clock: &Clock) -> Result<(), sqlx::Error> {
    let mut db = pool.acquire().await?;
    while events::store_queued(&mut db, BATCH_LENGTH_MAX, clock.now()).await? == BATCH_LENGTH_MAX.unsigned_abs() {}
    Ok(())
}

async fn delete_expired(pool: &PgPool, clock: &Clock) -> Result<(), sqlx::Error> {
    let mut db = pool.acquire().await?;
    let before = checked_time(&mut db, clock).await? - time::Duration::days(RETENTION_DAYS);
    let deleted = events::delete_events_before(&mut db, before).await?;
    if deleted > 0 {
        tracing::info!(deleted, "deleted expired events");
    }
    Ok(())
}
