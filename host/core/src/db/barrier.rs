//! Makes sure that what was read is replicated before it leaves the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use sqlx::{Executor as _, PgConnection, PgPool};
use tokio::time::timeout;

use super::durability::{Durability, check_replicas, unavailable};
use super::primary::Servers;
use super::session::within;
use super::timeline::{REPLACED, Timeline, View};

/// Longest wait for a barrier. A planned switchover takes 4 s; during a failover, reads are repeated.
const BARRIER_TIME_MAX: Duration = Duration::from_secs(8);

/// Writes a record that changes nothing. Once it is confirmed, so is every commit that was visible before.
pub(crate) async fn write_barrier(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    db.execute("select pg_logical_emit_message(true, 'caudal', '')").await.map(drop)
}

/// What was read or written may be lost in a failover, and must not be revealed.
#[derive(Debug, thiserror::Error)]
#[error("the database does not confirm what was read or written")]
pub struct Unconfirmed(#[from] pub(crate) sqlx::Error);

impl From<Unconfirmed> for sqlx::Error {
    fn from(Unconfirmed(error): Unconfirmed) -> Self {
        error
    }
}

/// Confirms what was read or written. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Barrier {
    db: PgPool,
    durability: Durability,
    timeline: Timeline,
    servers: Servers,
    barriers: Arc<Turns>,
    questions: Arc<Turns>,
}

/// Callers share turns: one that begins after a call was made serves it too.
#[derive(Debug, Default)]
struct Turns {
    begun: AtomicU64,
    /// The last turn that ended, and the timeline that it was confirmed on.
    ended: tokio::sync::Mutex<(u64, Option<View>)>,
}

impl Turns {
    /// `earlier`: how many had begun at the time of the call.
    async fn take(
        &self,
        earlier: u64,
        work: impl Future<Output = Result<View, sqlx::Error>>,
    ) -> Result<View, sqlx::Error> {
        let late = |_| sqlx::Error::Io(std::io::Error::from(std::io::ErrorKind::TimedOut));
        let mut ended = timeout(BARRIER_TIME_MAX, self.ended.lock()).await.map_err(late)?;
        if ended.0 > earlier {
            return ended.1.ok_or_else(|| unavailable("the replicas do not confirm what was read or written"));
        }
        let number = self.begun.fetch_add(1, SeqCst) + 1;
        let confirmed = work.await;
        *ended = (number, confirmed.as_ref().ok().copied());
        confirmed
    }
}

impl Barrier {
    /// `timeline` is that of the pool's connections.
    pub fn new(db: PgPool, durability: Durability, timeline: Timeline) -> Self {
        let (barriers, questions) = Default::default();
        Self { db, durability, timeline, servers: Servers::default(), barriers, questions }
    }

    /// Asks these servers, too, whether another one was promoted.
    #[must_use]
    pub fn among(self, servers: Servers) -> Self {
        Self { servers, ..self }
    }

    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Whether each connection has to be checked before it is used again.
    pub fn may_fail_over(&self) -> bool {
        self.durability == Durability::Replicated || self.servers.are_several()
    }

    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// To be called before the first read.
    pub fn begin(&self) -> View {
        self.timeline.view()
    }

    /// Completes once everything that was read since `view` is confirmed.
    ///
    /// # Errors
    /// When the replicas do not confirm it in time, or another server was promoted meanwhile.
    pub async fn pass(&self, view: View) -> Result<(), Unconfirmed> {
        if self.durability == Durability::Local {
            return Ok(());
        }
        let (barrier, earlier) = (self.clone(), self.barriers.begun.load(SeqCst));
        // A task of its own: a caller that goes away must not leave a connection in the middle of a write.
        let turn = tokio::spawn(async move { barrier.barriers.take(earlier, barrier.write()).await });
        let confirmed = turn.await.unwrap_or(Err(sqlx::Error::WorkerCrashed))?;
        if confirmed == view { Ok(()) } else { Err(unavailable(REPLACED).into()) }
    }

    /// Runs a write, from taking a connection to its commit, which is confirmed if it succeeds. If it cannot be
    /// confirmed, that is an error, and the outcome is unknown.
    pub(crate) async fn confirmed<T>(
        &self,
        write: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        self.confirmed_since(self.begin(), write).await
    }

    /// The same for a write that confirms what was read since `view` as well.
    pub async fn confirmed_since<T>(
        &self,
        view: View,
        write: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        let written = self.durability.confirmed(write).await?;
        if self.durability == Durability::Replicated && self.ask().await? != view {
            return Err(unavailable(REPLACED));
        }
        Ok(written)
    }

    /// A barrier of its own. Returns the timeline of the server that confirmed it.
    async fn write(&self) -> Result<View, sqlx::Error> {
        let view = self.begin();
        let write = async |db: &mut PgConnection| {
            check_replicas(db).await?;
            write_barrier(db).await
        };
        // The pool gives out connections on the newest timeline only, so this one is on it.
        let write = async { within(self.db.acquire().await?, BARRIER_TIME_MAX, write).await };
        self.confirmed_since(view, write).await.map(|()| view)
    }

    /// The newest timeline that any server knows, asked after the write that it is to confirm. An old primary still
    /// commits as long as a standby follows it.
    async fn ask(&self) -> Result<View, sqlx::Error> {
        if !self.servers.are_several() {
            return Ok(self.begin());
        }
        let ask = async {
            self.servers.ask(&self.timeline).await?;
            Ok(self.begin())
        };
        self.questions.take(self.questions.begun.load(SeqCst), ask).await
    }
}
