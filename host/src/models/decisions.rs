//! Keeps decisions so that they can be run again, where a host is told to (`--decision-log`).
//!
//! A decision is kept before anybody learns of it: what cannot be kept is not answered. Those that come at
//! the same moment are kept together, so that they share a commit.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::clock::Clock;
use crate::db::decisions::{self, Decision};
use crate::db::session::within;
use crate::domain::model::{ModelKind, ModelVersion};
use crate::domain::money::Money;
use crate::domain::risk::Level;
use crate::domain::rules::{Facts, Verdict, Violation};

/// Requests whose decisions may wait: about what a second of commits takes.
const QUEUE_LENGTH_MAX: usize = 1024;

/// Requests that share a commit.
const TOGETHER_MAX: usize = 128;

/// Longest wait for a place among those that wait, and for the database's reply.
const WAIT_MAX: Duration = Duration::from_secs(2);
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// How long decisions are kept, in days.
const RETENTION_DAYS: i64 = 90;

/// How often outdated decisions are looked for, and how many go at a time.
const PURGE_EVERY: Duration = Duration::from_secs(3600);
const PURGED_TOGETHER: i64 = 5_000;

/// A decision to keep.
#[derive(Debug)]
pub struct Kept {
    /// Of which kind.
    pub kind: ModelKind,
    /// Who decided.
    pub version: ModelVersion,
    /// About which transfer, when it is about one.
    pub transfer_id: Option<Uuid>,
    /// What was asked, as JSON text.
    pub request: String,
    /// What was answered, as JSON text.
    pub response: String,
}

/// The decisions were not kept.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the decision cannot be kept")]
pub struct NotKept;

struct Job {
    decisions: Vec<Kept>,
    done: oneshot::Sender<bool>,
}

/// Keeps decisions; cheap to clone.
#[derive(Clone)]
pub struct DecisionLog {
    jobs: Arc<mpsc::Sender<Job>>,
}

impl DecisionLog {
    /// Starts the task that keeps them. It ends with the last handle.
    pub fn start(db: PgPool, clock: Clock) -> Self {
        let (jobs, queue) = mpsc::channel(QUEUE_LENGTH_MAX);
        tokio::spawn(run(queue, db, clock));
        Self { jobs: Arc::new(jobs) }
    }

    /// Keeps decisions, all or none.
    ///
    /// # Errors
    /// When they cannot be kept.
    pub async fn keep(&self, decisions: Vec<Kept>) -> Result<(), NotKept> {
        if decisions.is_empty() {
            return Ok(());
        }
        let (done, kept) = oneshot::channel();
        self.jobs.send_timeout(Job { decisions, done }, WAIT_MAX).await.map_err(|_| NotKept)?;
        if kept.await.unwrap_or(false) { Ok(()) } else { Err(NotKept) }
    }
}

async fn run(mut queue: mpsc::Receiver<Job>, db: PgPool, clock: Clock) {
    let mut jobs = Vec::with_capacity(TOGETHER_MAX);
    while queue.recv_many(&mut jobs, TOGETHER_MAX).await > 0 {
        let (decisions, waiting): (Vec<_>, Vec<_>) = jobs.drain(..).map(|job| (job.decisions, job.done)).unzip();
        let rows: Vec<_> = decisions.into_iter().flatten().map(|kept| row(kept, &clock)).collect();
        let stored = match db.acquire().await {
            Ok(db) => within(db, REPLY_TIME_MAX, async |db| decisions::insert(db, &rows).await).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &stored {
            tracing::error!(error = error as &dyn std::error::Error, "cannot keep decisions, so they are not answered");
        }
        for done in waiting {
            // Who went away does not need to know.
            let _ = done.send(stored.is_ok());
        }
    }
}

fn row(kept: Kept, clock: &Clock) -> Decision {
    let Kept { kind, version, transfer_id, request, response } = kept;
    let (decision_id, decided_at) = (clock.new_id(), clock.now());
    Decision { decision_id, kind, model_version: version.to_string(), transfer_id, request, response, decided_at }
}

/// Deletes outdated decisions, also on hosts that keep none any longer. It may be aborted at any moment.
pub async fn purge(db: PgPool, clock: Clock) {
    let mut every = tokio::time::interval(PURGE_EVERY);
    loop {
        every.tick().await;
        if let Err(error) = delete_outdated(&db, &clock).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot delete outdated decisions");
        }
    }
}

async fn delete_outdated(pool: &PgPool, clock: &Clock) -> Result<(), sqlx::Error> {
    let before = clock.now() - time::Duration::days(RETENTION_DAYS);
    loop {
        let db = pool.acquire().await?;
        let delete = async |db: &mut PgConnection| decisions::delete_before(db, before, PURGED_TOGETHER).await;
        if within(db, REPLY_TIME_MAX, delete).await? < PURGED_TOGETHER.unsigned_abs() {
            return Ok(());
        }
    }
}

/// What transfer rules are asked, in JSON. Money is in centavos.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the domain's facts")]
pub struct RulesRequest {
    pub amount: i64,
    pub available: i64,
    pub day_total: i64,
    pub per_transfer_limit: Option<i64>,
    pub per_day_limit: Option<i64>,
    pub beneficiary_age_seconds: u64,
    pub cooling_seconds: u64,
    pub same_account: bool,
    pub local_hour: u8,
    pub risk_level: Option<String>,
    pub acknowledged: bool,
}

impl From<&Facts> for RulesRequest {
    fn from(facts: &Facts) -> Self {
        Self {
            amount: facts.amount.minor(),
            available: facts.available.minor(),
            day_total: facts.day_total.minor(),
            per_transfer_limit: facts.per_transfer_limit.map(Money::minor),
            per_day_limit: facts.per_day_limit.map(Money::minor),
            beneficiary_age_seconds: facts.beneficiary_age_seconds,
            cooling_seconds: facts.cooling_seconds,
            same_account: facts.same_account,
            local_hour: facts.local_hour,
            risk_level: facts.risk_level.map(|level| level.to_string()),
            acknowledged: facts.acknowledged,
        }
    }
}

impl From<&RulesRequest> for Facts {
    fn from(request: &RulesRequest) -> Self {
        Self {
            amount: Money::from_minor(request.amount),
            available: Money::from_minor(request.available),
            day_total: Money::from_minor(request.day_total),
            per_transfer_limit: request.per_transfer_limit.map(Money::from_minor),
            per_day_limit: request.per_day_limit.map(Money::from_minor),
            beneficiary_age_seconds: request.beneficiary_age_seconds,
            cooling_seconds: request.cooling_seconds,
            same_account: request.same_account,
            local_hour: request.local_hour,
            risk_level: request.risk_level.as_deref().and_then(Level::parse),
            acknowledged: request.acknowledged,
        }
    }
}

/// What transfer rules answered, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RulesResponse {
    model_version: String,
    verdict: &'static str,
    violations: Vec<ViolationJson>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ViolationJson {
    code: String,
    detail: String,
}

impl RulesResponse {
    /// Of a verdict and who gave it.
    pub fn new(version: &ModelVersion, verdict: &Verdict) -> Self {
        let violation = |it: &Violation| ViolationJson { code: it.code.clone(), detail: it.detail.clone() };
        let (verdict, violations) = match verdict {
            Verdict::Accepted => ("accepted", Vec::new()),
            Verdict::Rejected(violations) => ("rejected", violations.iter().map(violation).collect()),
        };
        Self { model_version: version.to_string(), verdict, violations }
    }
}

/// A decision of transfer rules.
///
/// # Errors
/// None in practice: facts and verdicts are plain data.
pub fn of_rules(version: &ModelVersion, transfer_id: Uuid, facts: &Facts, verdict: &Verdict) -> Result<Kept, NotKept> {
    let request = serde_json::to_string(&RulesRequest::from(facts)).map_err(|_| NotKept)?;
    let response = serde_json::to_string(&RulesResponse::new(version, verdict)).map_err(|_| NotKept)?;
    Ok(Kept {
        kind: ModelKind::TransferRules,
        version: version.clone(),
        transfer_id: Some(transfer_id),
        request,
        response,
    })
}
