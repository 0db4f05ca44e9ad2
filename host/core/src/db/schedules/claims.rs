//! How hosts share the work: each claims some schedules for a while.

use sqlx::{Connection as _, PgConnection};
use time::{Date, Duration, OffsetDateTime};
use uuid::Uuid;

use super::stored;
use crate::domain::schedule::Schedule;
use crate::sealing::ChainKey;

/// No host ever postpones an attempt for as long as this, so a longer time was not written by one, and is ignored.
const POSTPONED_MAX: Duration = Duration::hours(1);

/// What there is to do, of all hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Occurrences that are due and do not wait for anybody.
    pub due: i64,
    /// Occurrences that wait for their owner.
    pub waiting: i64,
}

/// Claims schedules with an occurrence of `today` or before, or one that does not wait any longer, for a while by the
/// database's clock, so that a host whose clock is wrong takes nothing from others. Owners take turns.
pub async fn claim(
    db: &mut PgConnection,
    today: Date,
    (fixed_at, length): (Option<OffsetDateTime>, Duration),
    limit: i64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with clock as materialized (
            select coalesce($2, clock_timestamp()) as now
        ), due as (
            select schedule_id from schedule, clock
            where next_date <= $1 and (waiting_until is null or waiting_until <= now or is_claimed)
                and (attempt_at <= now or attempt_at > now + make_interval(secs => $4))
            order by turn, next_date, schedule_id limit $5
            for update of schedule skip locked
        )
        update schedule s set is_claimed = true, attempt_at = now + make_interval(secs => $3)
        from due, clock where s.schedule_id = due.schedule_id
        returning s.schedule_id
        "#,
        today,
        fixed_at,
        length.as_seconds_f64(),
        POSTPONED_MAX.as_seconds_f64(),
        limit,
    )
    .fetch_all(db)
    .await
}

/// A claimed schedule, and whether an occurrence of it was sent. `None` if it is not as recorded.
pub async fn find(
    db: &mut PgConnection,
    key: &ChainKey,
    schedule_id: Uuid,
) -> Result<Option<(Schedule, bool)>, sqlx::Error> {
    // Nothing is changed, but what is read at several times has to fit together.
    let mut transaction = db.begin().await?;
    let Some(locked) = stored::lock(&mut transaction, key, schedule_id).await? else { return Ok(None) };
    let was_sent = sqlx::query_scalar!(
        r#"select exists (select from occurrence where schedule_id = $1 and outcome = 'sent') as "was_sent!""#,
        schedule_id,
    );
    let was_sent = was_sent.fetch_one(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(Some((locked.schedule, was_sent)))
}

/// Gives a claim back until the next attempt. It stays open if the outcome of this one is not known.
pub async fn postpone(
    db: &mut PgConnection,
    attempted: &Schedule,
    attempt_at: OffsetDateTime,
    is_open: bool,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update schedule set attempt_at = $3, is_claimed = $4 where schedule_id = $1 and ordinal = $2",
        attempted.schedule_id,
        i32::try_from(attempted.ordinal).unwrap_or(i32::MAX),
        attempt_at,
        is_open,
    )
    .execute(db)
    .await
    .map(drop)
}

/// Counts what is due on `today`.
pub async fn measure(db: &mut PgConnection, today: Date) -> Result<Work, sqlx::Error> {
    sqlx::query_as!(
        Work,
        r#"
        select count(*) filter (where waiting_until is null) as "due!",
            count(*) filter (where waiting_until is not null) as "waiting!"
        from schedule where next_date <= $1
        "#,
        today,
    )
    .fetch_one(db)
    .await
}
