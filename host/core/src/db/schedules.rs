//! Scheduled transfers and what became of their occurrences.
//!
//! What hosts act on is what the audit records say, not the rows alone.

pub mod changes;
pub mod claims;
mod stored;

use std::collections::BTreeMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::{Position, unknown_text};
use crate::domain::schedule::{Occurrence, Outcome, Schedule};
use stored::{Row, find};

/// Newest first, after `position`.
pub async fn list_schedules(
    db: &mut PgConnection,
    owner: &str,
    position: Option<Position>,
    limit: i64,
) -> Result<Vec<Schedule>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select schedule_id, owner, creation_key, request::text as "request!", beneficiary_name, recurrence, first_date,
            last_date, times, created_at, status, ordinal, next_date, waiting_until
        from schedule
        where owner = $1
            and (created_at, schedule_id) < (
                coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
            )
        order by created_at desc, schedule_id desc
        limit $4
        "#,
        owner,
        position.map(|position| position.created_at),
        position.map(|position| position.id),
        limit,
    );
    rows.fetch_all(db).await?.into_iter().map(Row::read).collect()
}

/// `None` if the schedule does not exist or is another user's.
pub async fn find_schedule(
    db: &mut PgConnection,
    owner: &str,
    schedule_id: Uuid,
) -> Result<Option<Schedule>, sqlx::Error> {
    Ok(find(db, schedule_id).await?.filter(|it| it.owner == owner))
}

/// The schedule that a request with this idempotency key made.
pub async fn find_by_key(
    db: &mut PgConnection,
    owner: &str,
    creation_key: &str,
) -> Result<Option<Schedule>, sqlx::Error> {
    let id = sqlx::query_scalar!(
        "select schedule_id from schedule where owner = $1 and creation_key = $2",
        owner,
        creation_key,
    );
    let Some(id) = id.fetch_optional(&mut *db).await? else { return Ok(None) };
    find(db, id).await
}

/// How many of a user's schedules are active, up to `limit`.
pub async fn count_active(db: &mut PgConnection, owner: &str, limit: i64) -> Result<i64, sqlx::Error> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from (select from schedule where owner = $1 and status = 'active' limit $2) as first
        "#,
        owner,
        limit,
    );
    count.fetch_one(db).await
}

/// The last `limit` occurrences that are over of each schedule, newest first.
pub async fn last_occurrences(
    db: &mut PgConnection,
    schedules: &[Uuid],
    limit: i64,
) -> Result<BTreeMap<Uuid, Vec<Occurrence>>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select s.schedule_id as "schedule_id!", o.date, o.outcome, o.transfer_id, o.problem, o.recorded_at
        from unnest($1::uuid[]) as s (schedule_id)
        cross join lateral (
            select date, outcome, transfer_id, problem, recorded_at, ordinal
            from occurrence where schedule_id = s.schedule_id order by ordinal desc limit $2
        ) as o
        order by s.schedule_id, o.ordinal desc
        "#,
        schedules,
        limit,
    );
    let mut occurrences: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows.fetch_all(db).await? {
        let outcome = Outcome::parse(&row.outcome).ok_or_else(|| unknown_text("occurrence.outcome", &row.outcome))?;
        let (date, transfer_id, problem, recorded_at) = (row.date, row.transfer_id, row.problem, row.recorded_at);
        let over = Occurrence { date, outcome, transfer_id, problem, recorded_at };
        occurrences.entry(row.schedule_id).or_default().push(over);
    }
    Ok(occurrences)
}
