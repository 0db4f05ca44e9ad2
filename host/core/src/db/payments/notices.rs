//! Notices of incoming orders, until the rail has been asked about them.

use std::time::Duration;

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::ATTEMPTS_MAX;
use crate::domain::incoming::OrderKey;
use crate::domain::transfer::RailName;

/// Notices that wait. Anybody can send some, and each costs a row and requests to the rail; the genuine ones of a minute
/// at 150 a second are fewer.
pub const NOTICES_MAX: i64 = 10_000;

/// A notice whose order the rail is to be asked about.
#[derive(Debug, Clone)]
pub(crate) struct DueNotice {
    pub(crate) key: OrderKey,
    /// Number of earlier attempts.
    pub(crate) attempts: i32,
    /// How long it has waited.
    pub(crate) age: time::Duration,
    /// Until when it is claimed.
    until: OffsetDateTime,
}

/// Keeps a notice, unless its order is in the ledger or another notice of it waits. False if too many others wait.
pub(crate) async fn keep(
    db: &mut PgConnection,
    rail: RailName,
    key: &OrderKey,
    fixed_at: Option<OffsetDateTime>,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with known as materialized (
            select exists (select from transfer where transfer_id = $6)
                or exists (
                    select from incoming_notice
                    where (rail, tracking_key, operating_date, institution) = ($1, $2, $3, $4)
                ) as it
        ), waiting as materialized (
            select count(*) as n from (select from incoming_notice limit $7) as first
        ), kept as (
            insert into incoming_notice (rail, tracking_key, operating_date, institution, due_at, received_at)
            select $1, $2, $3, $4, now, now
            from known, waiting, coalesce($5, clock_timestamp()) as now where not known.it and n < $7
            on conflict do nothing
        )
        select known.it or n < $7 as "is_kept!" from known, waiting
        "#,
        rail.as_str(),
        key.tracking_key,
        key.operating_date,
        institution(key),
        fixed_at,
        key.transfer_id(),
        NOTICES_MAX,
    )
    .fetch_one(db)
    .await
}

/// Claims due notices for a while, as [`claim`](super::claim) does payments.
pub(crate) async fn claim(
    db: &mut PgConnection,
    rail: RailName,
    (fixed_at, length): (Option<OffsetDateTime>, Duration),
    limit: i64,
) -> Result<Vec<DueNotice>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with clock as materialized (
            select coalesce($2, clock_timestamp()) as now
        ), due as (
            select tracking_key, operating_date, institution from incoming_notice
            where rail = $1 and due_at <= (select now from clock) order by due_at limit $4 for update skip locked
        )
        update incoming_notice n set due_at = now + make_interval(secs => $3), attempts = least(attempts, $5) + 1
        from due, clock
        where n.rail = $1 and n.tracking_key = due.tracking_key and n.operating_date = due.operating_date
            and n.institution = due.institution
        returning n.tracking_key, n.operating_date, n.institution, n.attempts, n.due_at, now - n.received_at as "age!"
        "#,
        rail.as_str(),
        fixed_at,
        length.as_secs_f64(),
        limit,
        ATTEMPTS_MAX,
    );
    let due = rows.fetch_all(db).await?.into_iter().map(|row| DueNotice {
        key: OrderKey {
            tracking_key: row.tracking_key,
            operating_date: row.operating_date,
            institution: row.institution.try_into().unwrap_or_default(),
        },
        attempts: row.attempts.saturating_sub(1),
        age: time::Duration::days(row.age.days.into()) + time::Duration::microseconds(row.age.microseconds),
        until: row.due_at,
    });
    Ok(due.collect())
}

/// Makes a claimed notice due after a pause, or ends it.
pub(crate) async fn end(
    db: &mut PgConnection,
    rail: RailName,
    DueNotice { key, until, .. }: &DueNotice,
    (fixed_at, pause): (Option<OffsetDateTime>, Option<Duration>),
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        with ended as (
            delete from incoming_notice
            where (rail, tracking_key, operating_date, institution) = ($1, $2, $3, $4) and $7::float8 is null
        )
        update incoming_notice set due_at = coalesce($5, clock_timestamp()) + make_interval(secs => $7)
        where (rail, tracking_key, operating_date, institution) = ($1, $2, $3, $4) and due_at = $6
            and $7::float8 is not null
        "#,
        rail.as_str(),
        key.tracking_key,
        key.operating_date,
        institution(key),
        fixed_at,
        until,
        pause.map(|pause| pause.as_secs_f64()),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// A valid one has five digits.
fn institution(key: &OrderKey) -> i32 {
    key.institution.try_into().unwrap_or(i32::MAX)
}
