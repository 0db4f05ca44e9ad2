//! Stores queued events in batches, for those users who consent at that moment.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::db::events;

/// Events of one batch: one statement of a few milliseconds.
const BATCH_LENGTH_MAX: i64 = 500;

/// Longest time that an event waits when nobody woke the worker, for example after a restart or
/// when another host queued it.
const IDLE: Duration = Duration::from_secs(5);

/// How long stored events are kept, in days: enough for a quarter's figures, and no longer than their
/// purpose needs.
const RETENTION_DAYS: i64 = 90;

/// How often outdated events are looked for: an hour more or less of ninety days does not matter.
const PURGE_EVERY: Duration = Duration::from_secs(3600);

/// Wakes the worker; cheap to clone.
#[derive(Clone, Default)]
pub struct EventWorker {
    woken: Arc<Notify>,
}

impl EventWorker {
    /// Starts the worker's task. It may be aborted at any moment: each step is one statement, and
    /// what is not stored stays queued.
    pub fn start(db: PgPool, clock: Clock) -> (Self, JoinHandle<()>) {
        let worker = Self::default();
        let task = tokio::spawn(run(worker.clone(), db, clock));
        (worker, task)
    }

    /// Says that something was queued.
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
            () = tokio::time::sleep(IDLE) => {}
            _ = purge.tick() => {
                if let Err(error) = delete_outdated(&db, &clock).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot delete outdated events");
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

async fn delete_outdated(pool: &PgPool, clock: &Clock) -> Result<(), sqlx::Error> {
    let mut db = pool.acquire().await?;
    let before = clock.now() - time::Duration::days(RETENTION_DAYS);
    let deleted = events::delete_events_before(&mut db, before).await?;
    if deleted > 0 {
        tracing::info!(deleted, "deleted outdated events");
    }
    Ok(())
}
