//! Makes sure that what was read is replicated before it leaves the host.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::{Executor as _, PgConnection, PgPool};
use tokio::time::timeout;

use super::durability::{Durability, check_replicas, unavailable};
use super::session::within;

/// Longest wait for a barrier. A planned switchover takes 4 s; during a failover, reads are repeated.
const BARRIER_TIME_MAX: Duration = Duration::from_secs(8);

/// Writes a record that changes nothing. Once it is confirmed, so is every commit that was visible before.
pub(crate) async fn write_barrier(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    db.execute("select pg_logical_emit_message(true, 'caudal', '')").await.map(drop)
}

/// The newest timeline of the server that this process has seen: every promotion begins one. An old primary that still
/// answers is on a lower timeline, and what it shows may have been lost.
#[derive(Debug, Clone, Default)]
pub struct Timeline(Arc<Newest>);

#[derive(Debug, Default)]
struct Newest {
    number: AtomicU32,
    /// When it was first seen; `None` for the first one.
    seen_at: Mutex<Option<Instant>>,
}

impl Timeline {
    /// Refuses a connection to a replica or to an old primary.
    pub(crate) async fn check(&self, db: &mut PgConnection) -> Result<(), sqlx::Error> {
        // Fails on a replica.
        let number = sqlx::query_scalar!(r#"select left(pg_walfile_name(pg_current_wal_lsn()), 8) as "number!""#);
        let number = number.fetch_one(db).await?;
        let number = u32::from_str_radix(&number, 16).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let mut seen_at = self.0.seen_at.lock().unwrap_or_else(PoisonError::into_inner);
        if number < self.0.number.load(SeqCst) {
            return Err(unavailable("this Postgres was the primary, and another one is now"));
        }
        let earlier = self.0.number.swap(number, SeqCst);
        if (1..number).contains(&earlier) {
            *seen_at = Some(Instant::now());
        }
        Ok(())
    }

    /// Whether a connection of this age cannot belong to an older timeline.
    pub(crate) fn is_newer_than(&self, age: Duration) -> bool {
        let seen_at = self.0.seen_at.lock().unwrap_or_else(PoisonError::into_inner);
        seen_at.is_none_or(|seen_at| age <= seen_at.elapsed())
    }
}

/// Where reads begin; see [`Barrier::pass`].
#[derive(Debug, Clone, Copy)]
pub struct View(u32);

/// Confirms what was read. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Barrier {
    db: PgPool,
    durability: Durability,
    timeline: Timeline,
    turns: Arc<Turns>,
}

/// Callers share barriers: one that began after a call confirms what the caller had read.
#[derive(Debug, Default)]
struct Turns {
    begun: AtomicU64,
    /// The last barrier that ended, and the timeline that it was confirmed on.
    ended: tokio::sync::Mutex<(u64, Option<u32>)>,
}

impl Barrier {
    /// `timeline` is that of the pool's connections.
    pub fn new(db: PgPool, durability: Durability, timeline: Timeline) -> Self {
        Self { db, durability, timeline, turns: Arc::default() }
    }

    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// To be called before the first read.
    pub fn begin(&self) -> View {
        View(self.timeline.0.number.load(SeqCst))
    }

    /// Completes once everything that was read since `view` is confirmed.
    ///
    /// # Errors
    /// When the replicas do not confirm it in time, or another server was promoted meanwhile.
    pub async fn pass(&self, view: View) -> Result<(), sqlx::Error> {
        if self.durability == Durability::Local {
            return Ok(());
        }
        let (barrier, earlier) = (self.clone(), self.turns.begun.load(SeqCst));
        // A task of its own: a caller that goes away must not leave a connection in the middle of a write.
        let turn = tokio::spawn(async move { barrier.take_turn(earlier).await });
        if turn.await.unwrap_or(Err(sqlx::Error::WorkerCrashed))? == view.0 {
            Ok(())
        } else {
            Err(unavailable("another Postgres became the primary during the read"))
        }
    }

    async fn take_turn(&self, earlier: u64) -> Result<u32, sqlx::Error> {
        let late = |_| sqlx::Error::Io(std::io::Error::from(std::io::ErrorKind::TimedOut));
        let mut ended = timeout(BARRIER_TIME_MAX, self.turns.ended.lock()).await.map_err(late)?;
        if ended.0 > earlier {
            return ended.1.ok_or_else(|| unavailable("the replicas do not confirm what was read"));
        }
        let number = self.turns.begun.fetch_add(1, SeqCst) + 1;
        let written = self.write().await;
        *ended = (number, written.as_ref().ok().copied());
        written
    }

    /// The timeline of the server that confirmed it.
    async fn write(&self) -> Result<u32, sqlx::Error> {
        let View(timeline) = self.begin();
        let db = self.db.acquire().await?;
        let write = async |db: &mut PgConnection| {
            check_replicas(db).await?;
            self.durability.confirmed(write_barrier(db)).await
        };
        within(db, BARRIER_TIME_MAX, write).await?;
        // The pool gives out connections on the newest timeline only, so this one was on it.
        if self.begin().0 == timeline { Ok(timeline) } else { Err(unavailable("another Postgres became the primary")) }
    }
}
