//! Sends scheduled transfers when they are due.
//!
//! Every host does. A claim keeps two of them from doing the same work, and the idempotency key of an occurrence keeps
//! them from sending it twice if they do.

pub(crate) mod occurrences;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, timeout};
use uuid::Uuid;

use crate::app::App;
use crate::db::connections::AcquireError;
use crate::db::schedules::{changes, claims};
use crate::domain::order::Circumstances;
use crate::schema::Flat;
use crate::workers::Workers;
use occurrences::{Attempt, CLAIM, Step};

/// Pause between two polls.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// Few enough to leave the database and the ledger's queue to customers.
const WORKERS: Workers = Workers { places: 16, under_way_max: 16 };

/// After this time the work on a claim is abandoned. What the ledger was asked until then, it decides before the claim is
/// over.
const WORK_TIME_MAX: Duration = Duration::from_secs(45);

/// Longest wait for a reply from the database.
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// Sends what is due. Clones share the host.
#[derive(Clone)]
pub struct Scheduler(App);

impl Scheduler {
    pub fn new(app: App) -> Self {
        Self(app)
    }

    /// Runs until it is aborted, which is safe at any time.
    pub async fn run(self) {
        let mut every = tokio::time::interval(POLL_EVERY);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if let Err(error) = self.send_due().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot send scheduled transfers");
            }
        }
    }

    /// Sends everything that is due, or records why it was not sent.
    ///
    /// # Errors
    /// When the database fails. What was claimed becomes due again.
    pub async fn send_due(&self) -> Result<(), AcquireError> {
        let failure = Arc::new(Mutex::new(None));
        let worked = WORKERS.work_off(
            |limit| self.claim(limit),
            |id| {
                let (scheduler, failure) = (self.clone(), Arc::clone(&failure));
                async move {
                    // One that takes too long stays claimed until its time is over.
                    match timeout(WORK_TIME_MAX, scheduler.attempt(id)).await {
                        Ok(Ok(attempt)) => attempt.into_iter().for_each(|it| it.count(&scheduler.0)),
                        Ok(Err(error)) => *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
                        Err(_) => {}
                    }
                }
            },
        );
        worked.await?;
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(error) = failure { Err(error) } else { self.measure().await }
    }

    async fn claim(&self, limit: i64) -> Result<Vec<Uuid>, AcquireError> {
        let Self(app) = self;
        let view = app.barrier.begin();
        let mut db = app.db.acquire().await?;
        let today = occurrences::latest_date(app.now(&mut db).await?);
        let claim = claims::claim(&mut db, today, (app.clock.fixed_at(), CLAIM), limit);
        // The claim is a write, so once it is confirmed, the schedules that are read are too.
        let claim = app.barrier.confirmed_since(view, claim);
        let timed_out = || std::io::Error::new(std::io::ErrorKind::TimedOut, "the database did not reply");
        let claimed = tokio::time::timeout(REPLY_TIME_MAX, claim).await;
        Ok(claimed.unwrap_or_else(|_| Err(sqlx::Error::Io(timed_out())))?)
    }

    /// `None` if there was nothing to count.
    async fn attempt(&self, schedule_id: Uuid) -> Result<Option<Attempt>, AcquireError> {
        let Self(app) = self;
        let mut db = app.db.acquire().await?;
        let now = app.now(&mut db).await?;
        let Some((schedule, was_sent)) = claims::find(&mut db, &app.key, schedule_id).await? else {
            return Ok(Some(Attempt::Tampered));
        };
        let date = match occurrences::step(&schedule, now) {
            None => return Ok(None),
            Some(Step::Close(date, otherwise)) => {
                let outcome = changes::close(&mut db, &app.key, (&schedule, date), otherwise, &app.clock).await?;
                return Ok(outcome.map(Attempt::Finished));
            }
            Some(Step::Send(date)) => date,
        };
        drop(db);
        // What its owner sent before from this schedule was not sent by a stranger.
        let usual = Circumstances { is_new_device: Some(false), geolocation_changed: Some(false) };
        let Flat(planned) = schedule.request.circumstances.clone();
        let answer = occurrences::send(app, &schedule, date, if was_sent { usual } else { planned }, None).await;
        occurrences::record(app, &schedule, date, &answer.result).await.map(Some)
    }

    async fn measure(&self) -> Result<(), AcquireError> {
        let Self(app) = self;
        let mut db = app.db.acquire().await?;
        let today = occurrences::latest_date(app.now(&mut db).await?);
        let work = claims::measure(&mut db, today).await?;
        let gauges = &app.models.metrics().schedules;
        gauges.of(["due"]).set(work.due);
        gauges.of(["waiting"]).set(work.waiting);
        Ok(())
    }
}
