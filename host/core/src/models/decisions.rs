//! The decision log (`--decision-log`), from which decisions can be replayed.
//!
//! A decision is stored before it is returned, and a request whose decision cannot be stored fails.
//! Concurrent decisions share a commit.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::clock::Clock;
use crate::db::decisions as table;
use crate::db::session::{checked_time, within};
use crate::domain::model::{ModelKind, ModelVersion};
use crate::domain::risk::CutOffs;
use crate::domain::rules::{Facts, Verdict};
use crate::scoring::{RulesRequest, RulesResponse};

/// Requests that may wait for their decisions to be stored: about a second's worth of commits.
const QUEUE_LENGTH_MAX: usize = 1024;

/// Requests that share a commit.
const BATCH_MAX: usize = 128;

/// Longest waits for a place in the queue, and for the database.
const WAIT_MAX: Duration = Duration::from_secs(2);
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

const RETENTION_DAYS: i64 = 90;

/// How often expired decisions are deleted, and how many per statement.
const PURGE_EVERY: Duration = Duration::from_secs(3600);
const PURGE_BATCH: i64 = 5_000;

/// An entry of the log.
#[derive(Debug)]
pub struct Decision {
    pub kind: ModelKind,
    pub version: ModelVersion,
    /// By which its answer was judged.
    pub cut_offs: CutOffs,
    /// The transfer that was decided on, if any.
    pub transfer_id: Option<Uuid>,
    /// JSON.
    pub request: String,
    /// JSON.
    pub response: String,
}

#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the decision cannot be logged")]
pub struct DecisionLogError;

impl From<serde_json::Error> for DecisionLogError {
    fn from(error: serde_json::Error) -> Self {
        tracing::error!(%error, "a decision cannot be written as JSON");
        Self
    }
}

struct Job {
    decisions: Vec<Decision>,
    done: oneshot::Sender<bool>,
}

/// Appends to the log; cheap to clone.
#[derive(Clone)]
pub struct DecisionLog {
    jobs: Arc<mpsc::Sender<Job>>,
}

impl DecisionLog {
    /// Starts the task that writes the log. It ends when the last handle is dropped.
    pub fn start(db: PgPool, clock: Clock) -> Self {
        let (jobs, queue) = mpsc::channel(QUEUE_LENGTH_MAX);
        tokio::spawn(run(queue, db, clock));
        Self { jobs: Arc::new(jobs) }
    }

    /// Stores decisions, all or none.
    ///
    /// # Errors
    /// When they cannot be stored.
    pub async fn append(&self, decisions: Vec<Decision>) -> Result<(), DecisionLogError> {
        if decisions.is_empty() {
            return Ok(());
        }
        let (done, stored) = oneshot::channel();
        self.jobs.send_timeout(Job { decisions, done }, WAIT_MAX).await.map_err(|_| DecisionLogError)?;
        if stored.await.unwrap_or(false) { Ok(()) } else { Err(DecisionLogError) }
    }
}

async fn run(mut queue: mpsc::Receiver<Job>, db: PgPool, clock: Clock) {
    let mut jobs = Vec::with_capacity(BATCH_MAX);
    while queue.recv_many(&mut jobs, BATCH_MAX).await > 0 {
        let (decisions, waiting): (Vec<_>, Vec<_>) = jobs.drain(..).map(|job| (job.decisions, job.done)).unzip();
        let rows: Vec<_> = decisions.into_iter().flatten().map(|decision| row(decision, &clock)).collect();
        let stored = match db.acquire().await {
            Ok(db) => within(db, REPLY_TIME_MAX, async |db| table::insert(db, &rows).await).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &stored {
            tracing::error!(error = error as &dyn std::error::Error, "cannot log decisions; their requests fail");
        }
        for done in waiting {
            // The request may have been cancelled.
            let _ = done.send(stored.is_ok());
        }
    }
}

fn row(decision: Decision, clock: &Clock) -> table::LoggedDecision {
    let Decision { kind, version, cut_offs, transfer_id, request, response } = decision;
    let (decision_id, decided_at) = (clock.new_id(), clock.now());
    table::LoggedDecision {
        decision_id,
        kind,
        model_version: version.to_string(),
        cut_offs,
        transfer_id,
        request,
        response,
        decided_at,
    }
}

/// Deletes expired decisions, even on hosts that no longer log any. May be aborted at any time.
pub async fn purge(db: PgPool, clock: Clock) {
    let mut every = tokio::time::interval(PURGE_EVERY);
    loop {
        every.tick().await;
        if let Err(error) = delete_expired(&db, &clock).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot delete expired decisions");
        }
    }
}

async fn delete_expired(pool: &PgPool, clock: &Clock) -> Result<(), sqlx::Error> {
    loop {
        let db = pool.acquire().await?;
        let delete = async |db: &mut PgConnection| {
            let before = checked_time(db, clock).await? - time::Duration::days(RETENTION_DAYS);
            table::delete_before(db, before, PURGE_BATCH).await
        };
        if within(db, REPLY_TIME_MAX, delete).await? < PURGE_BATCH.unsigned_abs() {
            return Ok(());
        }
    }
}

impl Decision {
    /// A decision of transfer rules.
    ///
    /// # Errors
    /// None in practice: facts and verdicts are plain data.
    pub(crate) fn by_rules(
        version: &ModelVersion,
        transfer_id: Uuid,
        facts: &Facts,
        verdict: &Verdict,
    ) -> Result<Self, DecisionLogError> {
        Ok(Self {
            kind: ModelKind::TransferRules,
            version: version.clone(),
            cut_offs: CutOffs::DEFAULT,
            transfer_id: Some(transfer_id),
            request: serde_json::to_string(&RulesRequest::from(facts))?,
            response: serde_json::to_string(&RulesResponse::new(version, verdict))?,
        })
    }
}
