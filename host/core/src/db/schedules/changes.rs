//! Changes of schedules, each with its audit record.

use sqlx::types::Json;
use sqlx::{Connection as _, PgConnection};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::stored::{Locked, lock};
use crate::clock::Clock;
use crate::db::records::{self, Change, OWNER, Subject};
use crate::db::session::{checked_time, database_time};
use crate::db::transfers;
use crate::domain::schedule::{Occurrence, Outcome, Schedule, Status};
use crate::sealing::ChainKey;

/// The actor of changes that hosts make on their own.
const HOST: &str = "host";

/// Why a user's change was not made.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// It is another user's, or not as recorded.
    #[error("the user has no such schedule")]
    NotFound,
    #[error("the schedule has ended")]
    Ended(Status),
    #[error("no occurrence of that date waits")]
    NotWaiting,
    /// One of its occurrences may be sent at this moment.
    #[error("an occurrence is under way")]
    UnderWay,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

fn change(action: &'static str, actor: &str, it: &Schedule) -> Change {
    Change::new(Subject::Schedule, it.schedule_id, action, actor)
}

/// Inserts a new one, after `turn` active ones of its owner, in the place of another. False if another one of its owner has
/// its creation key.
pub async fn insert(
    db: &mut PgConnection,
    key: &ChainKey,
    it: &Schedule,
    (turn, replaces): (i64, Option<Uuid>),
) -> Result<bool, ScheduleError> {
    let mut transaction = db.begin().await?;
    let replaced = match replaces {
        Some(id) => Some(lock_active(&mut transaction, key, (&it.owner, id), it.created_at).await?),
        None => None,
    };
    let inserted = sqlx::query!(
        r#"
        insert into schedule (schedule_id, owner, creation_key, request, beneficiary_name, recurrence, first_date,
            last_date, times, created_at, status, ordinal, next_date, attempt_at, is_claimed, turn)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $10, false, $13)
        on conflict (owner, creation_key) do nothing
        "#,
        it.schedule_id,
        it.owner,
        it.creation_key,
        Json(&it.request) as _,
        it.beneficiary_name,
        it.plan.recurrence.as_str(),
        it.plan.first,
        it.plan.last,
        it.plan.times.and_then(|times| i32::try_from(times).ok()),
        it.created_at,
        it.status.as_str(),
        it.next_date,
        i32::try_from(turn).unwrap_or(i32::MAX),
    );
    if inserted.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let mut changes = vec![change("plan", OWNER, it)];
    if let Some(locked) = replaced {
        changes.push(cancel_locked(&mut transaction, &locked, it.created_at).await?);
    }
    records::append_all(&mut transaction, key, &changes, it.created_at).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Writes what may change of a schedule, and what became of its occurrence. The claim is open while the outcome of a host's
/// attempt is not known; otherwise hosts may act on it.
async fn write(
    transaction: &mut PgConnection,
    it: &Schedule,
    over: Option<&Occurrence>,
    is_open: bool,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let ordinal = i32::try_from(it.ordinal).unwrap_or(i32::MAX);
    if let Some(over) = over {
        sqlx::query!(
            r#"
            insert into occurrence (schedule_id, ordinal, date, outcome, transfer_id, problem, recorded_at)
            values ($1, $2 - 1, $3, $4, $5, $6, $7)
            "#,
            it.schedule_id,
            ordinal,
            over.date,
            over.outcome.as_str(),
            over.transfer_id,
            over.problem,
            over.recorded_at,
        )
        .execute(&mut *transaction)
        .await?;
    }
    sqlx::query!(
        r#"
        update schedule set status = $2, ordinal = $3, next_date = $4, waiting_until = $5, attempt_at = $6, is_claimed = $7
        where schedule_id = $1
        "#,
        it.schedule_id,
        it.status.as_str(),
        ordinal,
        it.next_date,
        it.waiting_until,
        now,
        is_open,
    )
    .execute(transaction)
    .await?;
    Ok(())
}

/// A schedule of that user, locked, that no host is acting on.
async fn lock_own(
    transaction: &mut PgConnection,
    key: &ChainKey,
    (owner, schedule_id): (&str, Uuid),
    now: OffsetDateTime,
) -> Result<Locked, ScheduleError> {
    let is_own = super::find_schedule(transaction, owner, schedule_id).await?.is_some();
    let locked = if is_own { lock(transaction, key, schedule_id).await? } else { None };
    let locked = locked.filter(|it| it.schedule.owner == owner).ok_or(ScheduleError::NotFound)?;
    if locked.is_claimed && locked.attempt_at > now {
        return Err(ScheduleError::UnderWay);
    }
    Ok(locked)
}

async fn lock_active(
    transaction: &mut PgConnection,
    key: &ChainKey,
    own: (&str, Uuid),
    now: OffsetDateTime,
) -> Result<Locked, ScheduleError> {
    let locked = lock_own(transaction, key, own, now).await?;
    match locked.schedule.status {
        Status::Active => Ok(locked),
        ended => Err(ScheduleError::Ended(ended)),
    }
}

/// Cancels what is not yet over.
pub async fn cancel(
    db: &mut PgConnection,
    key: &ChainKey,
    own: (&str, Uuid),
    now: OffsetDateTime,
) -> Result<(), ScheduleError> {
    let mut transaction = db.begin().await?;
    let locked = lock_active(&mut transaction, key, own, now).await?;
    let cancelled = cancel_locked(&mut transaction, &locked, now).await?;
    records::append(&mut transaction, key, cancelled, now).await?;
    transaction.commit().await?;
    Ok(())
}

/// Returns what is to be recorded.
async fn cancel_locked(
    transaction: &mut PgConnection,
    locked: &Locked,
    now: OffsetDateTime,
) -> Result<Change, sqlx::Error> {
    let (cancelled, claim) = ended(locked, Status::Cancelled);
    write(transaction, &cancelled, None, claim, now).await?;
    Ok(change("cancel", OWNER, &cancelled))
}

/// A schedule that has ended. If an attempt is open, hosts still have to find out what became of it.
fn ended(locked: &Locked, status: Status) -> (Schedule, bool) {
    let next_date = locked.schedule.next_date.filter(|_| locked.is_claimed);
    (Schedule { status, next_date, waiting_until: None, ..locked.schedule.clone() }, locked.is_claimed)
}

/// Ends the schedules of a payee who is being deleted, as a part of that transaction. Returns what is to be recorded.
pub(crate) async fn end_of_payee(
    transaction: &mut PgConnection,
    key: &ChainKey,
    (owner, beneficiary_id): (&str, Uuid),
    now: OffsetDateTime,
) -> Result<Vec<Change>, sqlx::Error> {
    let ids = sqlx::query_scalar!(
        r#"
        select schedule_id from schedule
        where owner = $1 and request ->> 'toBeneficiaryId' = $2 and status = 'active'
        order by schedule_id for update
        "#,
        owner,
        beneficiary_id.to_string(),
    );
    let mut changes = Vec::new();
    for schedule_id in ids.fetch_all(&mut *transaction).await? {
        // Tampered schedules are kept as evidence and never executed.
        let Some(locked) = lock(transaction, key, schedule_id).await? else { continue };
        let (it, claim) = ended(&locked, Status::Ended);
        write(transaction, &it, None, claim, now).await?;
        changes.push(change("end", OWNER, &it));
    }
    Ok(changes)
}

/// The ledger's answer to the transfer of an occurrence, if there is one.
async fn find_answer(
    db: &mut PgConnection,
    schedule: &Schedule,
    date: Date,
    now: OffsetDateTime,
) -> Result<Option<Occurrence>, sqlx::Error> {
    let answer = transfers::find_answer(db, &schedule.owner, &schedule.key(date)).await?;
    Ok(answer.map(|answer| {
        let (outcome, transfer_id, problem) = match answer {
            Ok(transfer_id) => (Outcome::Sent, Some(transfer_id), None),
            Err(code) => (Outcome::Refused, None, Some(code)),
        };
        Occurrence { date, outcome, transfer_id, problem, recorded_at: now }
    }))
}

/// The owner does without the occurrence that waits, unless it was sent after all.
pub async fn skip(
    db: &mut PgConnection,
    key: &ChainKey,
    own: (&str, Uuid),
    date: Date,
    now: OffsetDateTime,
) -> Result<(), ScheduleError> {
    let mut transaction = db.begin().await?;
    let locked = lock_own(&mut transaction, key, own, now).await?;
    if locked.schedule.waiting_until.is_none() || locked.schedule.next_date != Some(date) {
        return Err(ScheduleError::NotWaiting);
    }
    let answer = find_answer(&mut transaction, &locked.schedule, date, now).await?;
    let over = answer.unwrap_or_else(|| without_transfer(date, Outcome::Skipped, now));
    finish(&mut transaction, key, (&locked.schedule, &over), OWNER, now).await?;
    transaction.commit().await?;
    Ok(())
}

fn without_transfer(date: Date, outcome: Outcome, now: OffsetDateTime) -> Occurrence {
    Occurrence { date, outcome, transfer_id: None, problem: None, recorded_at: now }
}

/// Records that an occurrence is over, and goes on to the next one.
async fn finish(
    transaction: &mut PgConnection,
    key: &ChainKey,
    (schedule, over): (&Schedule, &Occurrence),
    actor: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let next = schedule.after(over);
    write(transaction, &next, Some(over), false, now).await?;
    records::append(transaction, key, change(over.outcome.as_str(), actor, &next), now).await
}

/// Records what became of an attempt. Does nothing if that is recorded already.
pub async fn record(
    db: &mut PgConnection,
    key: &ChainKey,
    attempted: &Schedule,
    over: Occurrence,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let locked = lock(&mut transaction, key, attempted.schedule_id).await?;
    if let Some(locked) = locked.filter(|it| it.schedule.ordinal == attempted.ordinal) {
        // No host sends what waits for its owner.
        let actor = if locked.schedule.waiting_until.is_some() { OWNER } else { HOST };
        finish(&mut transaction, key, (&locked.schedule, &over), actor, now).await?;
    }
    transaction.commit().await
}

/// Lets an occurrence wait for its owner.
pub async fn wait(
    db: &mut PgConnection,
    key: &ChainKey,
    attempted: &Schedule,
    until: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let locked = lock(&mut transaction, key, attempted.schedule_id).await?;
    if let Some(locked) = locked.filter(|it| it.schedule.ordinal == attempted.ordinal) {
        // It may have been cancelled meanwhile: nothing was sent.
        let is_active = locked.schedule.status == Status::Active;
        let next_date = locked.schedule.next_date.filter(|_| is_active);
        // One that waits already keeps its time.
        let until = locked.schedule.waiting_until.unwrap_or(until);
        let it = Schedule { waiting_until: is_active.then_some(until), next_date, ..locked.schedule.clone() };
        write(&mut transaction, &it, None, false, now).await?;
        if it != locked.schedule {
            records::append(&mut transaction, key, change("wait", HOST, &it), now).await?;
        }
    }
    transaction.commit().await
}

/// Ends an occurrence that is not sent any more: because it is late, its owner did not answer, or the schedule has
/// ended. If it was sent nevertheless, that is what is recorded. Returns what became of it, `None` if it is not over.
pub async fn close(
    db: &mut PgConnection,
    key: &ChainKey,
    (claimed, date): (&Schedule, Date),
    otherwise: Option<(Outcome, OffsetDateTime)>,
    clock: &Clock,
) -> Result<Option<Outcome>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let now = checked_time(&mut transaction, clock).await?;
    // By the database's clock too: this is for good.
    let theirs = database_time(&mut transaction, clock).await?;
    if otherwise.is_some_and(|(_, from)| theirs < from) {
        return Ok(None);
    }
    let locked = lock(&mut transaction, key, claimed.schedule_id).await?;
    let Some(locked) = locked.filter(|it| it.schedule.ordinal == claimed.ordinal) else { return Ok(None) };
    let answer = find_answer(&mut transaction, &locked.schedule, date, now).await?;
    let over = answer.or(otherwise.map(|(outcome, _)| without_transfer(date, outcome, now)));
    let outcome = over.as_ref().map(|over| over.outcome);
    match over {
        Some(over) => finish(&mut transaction, key, (&locked.schedule, &over), HOST, now).await?,
        // It goes on waiting.
        None if locked.schedule.status == Status::Active => {
            write(&mut transaction, &locked.schedule, None, false, now).await?;
        }
        None => {
            let it = Schedule { next_date: None, ..locked.schedule };
            write(&mut transaction, &it, None, false, now).await?;
            records::append(&mut transaction, key, change("settle", HOST, &it), now).await?;
        }
    }
    transaction.commit().await?;
    Ok(outcome)
}

/// The schedule whose occurrence waits, claimed until then for the answer of its owner.
pub async fn claim_waiting(
    db: &mut PgConnection,
    key: &ChainKey,
    own: (&str, Uuid),
    date: Date,
    (now, until): (OffsetDateTime, OffsetDateTime),
) -> Result<Schedule, ScheduleError> {
    let mut transaction = db.begin().await?;
    let Locked { schedule, .. } = lock_own(&mut transaction, key, own, now).await?;
    if schedule.next_date != Some(date) || schedule.waiting_until.is_none_or(|until| until <= now) {
        return Err(ScheduleError::NotWaiting);
    }
    write(&mut transaction, &schedule, None, true, until).await?;
    transaction.commit().await?;
    Ok(schedule)
}
