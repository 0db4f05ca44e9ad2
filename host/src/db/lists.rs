//! Lists that are asked for at the same time are read by one statement, which costs much less than one for each.

use std::future::Future;
use std::sync::Arc;

use sqlx::PgConnection;
use time::OffsetDateTime;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, mpsc, oneshot};
use tracing::Instrument as _;
use uuid::Uuid;

use super::Position;
use super::connections::{AcquireError, Connections};
use crate::telemetry::SPANS;

/// Statements at the same time for one kind of list: the host decodes one while the database executes the other. More
/// would leave fewer lists for each.
pub const READERS: usize = 2;

/// Lists of one statement. Longer ones save little more, and all lists wait for the longest.
pub const LISTS_MAX: usize = 32;

/// Lists that wait for a statement. The last of them waits for about 25 ms.
pub const WAITING_MAX: usize = 256;

/// A kind of list.
pub(crate) trait List: 'static {
    type Item: Send + 'static;

    /// The items of all lists, each with the number of its list, from 1.
    fn read(
        db: &mut PgConnection,
        lists: &Wanted,
    ) -> impl Future<Output = Result<Vec<(usize, Self::Item)>, sqlx::Error>> + Send;
}

/// Parts of users' lists, as columns: the part `n` is of `owners[n]`, after `times[n]` and `ids[n]`.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) owners: Vec<String>,
    pub(crate) times: Vec<Option<OffsetDateTime>>,
    pub(crate) ids: Vec<Option<Uuid>>,
    pub(crate) limits: Vec<i64>,
}

impl Wanted {
    fn add(&mut self, owner: String, after: Option<Position>, limit: i64) {
        self.owners.push(owner);
        self.times.push(after.map(|position| position.created_at));
        self.ids.push(after.map(|position| position.id));
        self.limits.push(limit);
    }
}

struct Job<T> {
    owner: String,
    after: Option<Position>,
    limit: i64,
    reply: oneshot::Sender<Vec<T>>,
}

/// Reads one kind of list; cheap to clone.
pub(crate) struct Lists<L: List> {
    db: Connections,
    jobs: mpsc::Sender<Job<L::Item>>,
}

impl<L: List> Clone for Lists<L> {
    fn clone(&self) -> Self {
        Self { db: self.db.clone(), jobs: self.jobs.clone() }
    }
}

impl<L: List> Lists<L> {
    /// Starts the readers, which exit once every handle is dropped.
    pub(crate) fn start(db: Connections) -> Self {
        let (jobs, queue) = mpsc::channel(WAITING_MAX);
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..READERS {
            tokio::spawn(read_lists::<L>(db.clone(), Arc::clone(&queue)));
        }
        Self { db, jobs }
    }

    /// Up to `limit` items after a position.
    ///
    /// # Errors
    /// See [`AcquireError`].
    pub(crate) async fn read(
        &self,
        owner: &str,
        after: Option<Position>,
        limit: i64,
    ) -> Result<Vec<L::Item>, AcquireError> {
        let (reply, items) = oneshot::channel();
        let job = Job { owner: owner.to_owned(), after, limit, reply };
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            return Err(AcquireError::Busy);
        }
        if let Ok(items) = items.instrument(tracing::debug_span!(target: SPANS, "list")).await {
            return Ok(items);
        }
        // The statement failed, or no reader is left. Alone, the list is read or its error is known.
        let mut db = self.db.acquire().await?;
        let mut wanted = Wanted::default();
        wanted.add(owner.to_owned(), after, limit);
        let items = L::read(&mut db, &wanted).await?;
        db.pass_on();
        Ok(items.into_iter().map(|(_, item)| item).collect())
    }
}

async fn read_lists<L: List>(db: Connections, queue: Arc<Mutex<mpsc::Receiver<Job<L::Item>>>>) {
    let mut jobs = Vec::with_capacity(LISTS_MAX);
    while queue.lock().await.recv_many(&mut jobs, LISTS_MAX).await > 0 {
        jobs.retain(|job| !job.reply.is_closed());
        // After a failure the replies are dropped, and each caller reads its own list.
        if let Ok(items) = read_all::<L>(&db, &jobs).await {
            for (Job { reply, .. }, items) in jobs.drain(..).zip(items) {
                let _ = reply.send(items);
            }
        }
        jobs.clear();
    }
}

async fn read_all<L: List>(db: &Connections, jobs: &[Job<L::Item>]) -> Result<Vec<Vec<L::Item>>, AcquireError> {
    let mut wanted = Wanted::default();
    jobs.iter().for_each(|job| wanted.add(job.owner.clone(), job.after, job.limit));
    let mut db = db.acquire().await?;
    let items = L::read(&mut db, &wanted).await?;
    db.pass_on();
    let mut lists: Vec<Vec<_>> = jobs.iter().map(|_| Vec::new()).collect();
    for (number, item) in items {
        lists[number - 1].push(item);
    }
    Ok(lists)
}
