//! Rollouts: canaries whose share grows by itself.

use sqlx::{Connection as _, PgConnection, Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use super::components::{digest_of, kind_of};
use super::deployments::Canary;
use super::records::{self, Change, Subject};
use super::unknown_text;
use crate::domain::approval::Person;
use crate::domain::model::ModelKind;
use crate::domain::rollout::{Bounds, OnViolation, Rollout, RolloutState};
use crate::sealing::ChainKey;

/// A row of `rollout`, in the order of its columns.
struct RolloutRow {
    rollout_id: Uuid,
    kind: String,
    canary: Vec<u8>,
    steps: Vec<i16>,
    step_decisions: i32,
    step_seconds: i32,
    max_failure_percent: i16,
    max_flip_percent: i16,
    on_violation: String,
    despite_setback: bool,
    fork_report: Option<String>,
    reason: String,
    started_by: String,
    started_issuer: Option<String>,
    started_at: OffsetDateTime,
    state: String,
    step: i16,
    epoch: i64,
    step_at: OffsetDateTime,
    detail: String,
    approval_id: Option<Uuid>,
    changed_by: String,
    changed_at: OffsetDateTime,
}

impl RolloutRow {
    fn read(self) -> Result<Rollout, sqlx::Error> {
        let percent = |value: i16| u8::try_from(value).unwrap_or_default();
        let count = |value: i32| u32::try_from(value).unwrap_or_default();
        let state = RolloutState::parse(&self.state).ok_or_else(|| unknown_text("rollout.state", &self.state))?;
        Ok(Rollout {
            rollout_id: self.rollout_id,
            kind: kind_of(&self.kind)?,
            canary: digest_of(&self.canary)?,
            steps: self.steps.into_iter().map(percent).collect(),
            bounds: Bounds {
                decisions: count(self.step_decisions),
                seconds: count(self.step_seconds),
                max_failure_percent: percent(self.max_failure_percent),
                max_flip_percent: percent(self.max_flip_percent),
            },
            on_violation: OnViolation::parse(&self.on_violation)
                .ok_or_else(|| unknown_text("rollout.on_violation", &self.on_violation))?,
            despite_setback: self.despite_setback,
            fork_report: self.fork_report,
            reason: self.reason,
            started_by: Person { name: self.started_by, issuer: self.started_issuer, is_machine: false },
            started_at: self.started_at,
            state,
            step: usize::try_from(self.step).unwrap_or_default(),
            epoch: self.epoch,
            step_at: self.step_at,
            detail: self.detail,
            approval_id: self.approval_id,
            changed_by: self.changed_by,
            changed_at: self.changed_at,
        })
    }
}

/// The canary of the present step.
impl From<&Rollout> for Canary {
    fn from(it: &Rollout) -> Self {
        Self { version: it.canary, percent: it.percent(), max_flip_percent: it.bounds.max_flip_percent }
    }
}

/// Newest first.
pub async fn of_kind(db: &mut PgConnection, kind: ModelKind, limit: i64) -> Result<Vec<Rollout>, sqlx::Error> {
    let rows = sqlx::query_as!(
        RolloutRow,
        "select * from rollout where kind = $1 order by started_at desc, epoch desc, rollout_id desc limit $2",
        kind.as_str(),
        limit,
    );
    rows.fetch_all(db).await?.into_iter().map(RolloutRow::read).collect()
}

/// Those that hosts look after, at most one of each kind.
pub(crate) async fn open(db: &mut PgConnection) -> Result<Vec<Rollout>, sqlx::Error> {
    let rows = sqlx::query_as!(
        RolloutRow,
        "select * from rollout where state in ('running', 'paused', 'waiting') order by kind"
    );
    rows.fetch_all(db).await?.into_iter().map(RolloutRow::read).collect()
}

/// Locks a rollout for one change, unless another has locked it; `None` also if it is not as it was seen, or not as the
/// audit records say: nobody may seal what somebody altered.
pub(crate) async fn claim<'a>(
    db: &'a mut PgConnection,
    key: &ChainKey,
    seen: &Rollout,
) -> Result<Option<Transaction<'a, Postgres>>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let row = sqlx::query_as!(
        RolloutRow,
        "select * from rollout where rollout_id = $1 for update skip locked",
        seen.rollout_id
    );
    let found = row.fetch_optional(&mut *transaction).await?.map(RolloutRow::read).transpose()?;
    if found.as_ref() != Some(seen) {
        return Ok(None);
    }
    if records::is_sound(&mut transaction, key, Subject::Rollout, &seen.rollout_id.to_string()).await? {
        return Ok(Some(transaction));
    }
    tracing::error!(kind = %seen.kind, "a rollout is not as recorded, so it does not change: run `caudal verify`");
    Ok(None)
}

fn smallint(value: impl TryInto<i16>) -> i16 {
    value.try_into().unwrap_or(i16::MAX)
}

fn int(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// Adds a rollout. False if another of the kind is open.
pub(crate) async fn insert(db: &mut PgConnection, it: &Rollout) -> Result<bool, sqlx::Error> {
    let steps: Vec<_> = it.steps.iter().map(|percent| i16::from(*percent)).collect();
    let inserted = sqlx::query!(
        r#"
        insert into rollout
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
        on conflict (kind) where state in ('running', 'paused', 'waiting') do nothing
        "#,
        it.rollout_id,
        it.kind.as_str(),
        &it.canary.0[..],
        &steps,
        int(it.bounds.decisions),
        int(it.bounds.seconds),
        i16::from(it.bounds.max_failure_percent),
        i16::from(it.bounds.max_flip_percent),
        it.on_violation.as_str(),
        it.despite_setback,
        it.fork_report,
        it.reason,
        it.started_by.name,
        it.started_by.issuer,
        it.started_at,
        it.state.as_str(),
        smallint(it.step),
        it.epoch,
        it.step_at,
        it.detail,
        it.approval_id,
        it.changed_by,
        it.changed_at,
    );
    Ok(inserted.execute(db).await?.rows_affected() == 1)
}

/// Replaces what changes of a rollout that [`claim`] locked.
pub(crate) async fn update(db: &mut PgConnection, it: &Rollout) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update rollout set state = $2, step = $3, epoch = $4, step_at = $5, detail = $6, approval_id = $7,
            changed_by = $8, changed_at = $9
        where rollout_id = $1
        "#,
        it.rollout_id,
        it.state.as_str(),
        smallint(it.step),
        it.epoch,
        it.step_at,
        it.detail,
        it.approval_id,
        it.changed_by,
        it.changed_at,
    )
    .execute(db)
    .await
    .map(drop)
}

/// Appends the record of a rollout's state, as the last statement of its transaction.
pub(crate) async fn record(
    db: &mut PgConnection,
    key: &ChainKey,
    it: &Rollout,
    action: &'static str,
) -> Result<(), sqlx::Error> {
    records::append(db, key, Change::new(Subject::Rollout, it.rollout_id, action, &it.changed_by), it.changed_at).await
}
