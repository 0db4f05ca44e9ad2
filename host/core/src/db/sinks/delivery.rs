//! Sinks, as hosts deliver to them. All times are the database's, which the hosts share.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::db::records::{self, Subject};
use crate::domain::sink::{Sink, Undelivered};
use crate::sealing::ChainKey;

/// First pause before an event is sent again, in seconds; it doubles with each attempt.
const PAUSE_SECONDS: f64 = 1.0;

/// Longest such pause: a sink that was away for a day is served ten minutes after it is back.
const PAUSE_SECONDS_MAX: f64 = 600.0;

/// A sink that this host delivers to.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) sink: Sink,
    /// The claim. It holds as long as this is what the database says.
    pub(crate) until: OffsetDateTime,
}

/// What came of some deliveries.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Numbers of what was delivered after all.
    pub(crate) delivered: Vec<i64>,
    /// Numbers of what was not, with the error.
    pub(crate) failed: Vec<(i64, String)>,
    /// What was not delivered and has no number yet.
    pub(crate) parked: Vec<Undelivered>,
    /// How far the sink is now.
    pub(crate) cursor: Option<String>,
}

/// Claims sinks that are due. One that is not as recorded gets nothing: somebody may have given it another URL.
pub(crate) async fn claim(
    db: &mut PgConnection,
    key: &ChainKey,
    claim: Duration,
    limit: i64,
) -> Result<Vec<Claimed>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with due as (
            select p.sink_id from sink_progress p join sink s using (sink_id)
            where not s.is_paused and p.due_at <= clock_timestamp() order by p.due_at limit $1
            for no key update of p skip locked
        )
        update sink_progress p set due_at = clock_timestamp() + make_interval(secs => $2)
        from due where p.sink_id = due.sink_id returning p.sink_id, p.due_at
        "#,
        limit,
        claim.as_secs_f64(),
    );
    let rows = rows.fetch_all(&mut *db).await?;
    let sinks = if rows.is_empty() { Vec::new() } else { super::list(db).await? };
    let mut claimed = Vec::new();
    for sink in sinks {
        let Some(row) = rows.iter().find(|row| row.sink_id == sink.id) else { continue };
        if records::is_sound(db, key, Subject::Sink, &sink.id.to_string()).await? {
            claimed.push(Claimed { sink, until: row.due_at });
        } else {
            tracing::error!(sink = %sink.id, "a sink was altered and gets nothing: run `caudal verify`");
        }
    }
    Ok(claimed)
}

/// What a claimed sink did not accept; `None` if the claim was lost.
pub(crate) async fn undelivered(
    db: &mut PgConnection,
    claimed: &Claimed,
) -> Result<Option<Vec<Undelivered>>, sqlx::Error> {
    let sink_id = claimed.sink.id;
    let until = sqlx::query_scalar!("select due_at from sink_progress where sink_id = $1", sink_id);
    if until.fetch_optional(&mut *db).await? != Some(claimed.until) {
        return Ok(None);
    }
    super::undelivered(db, sink_id).await.map(Some)
}

/// Stores what came of deliveries, and makes the sink due again after a while, for this host or any. Returns the claim;
/// `None` if it was lost, and then nothing is stored.
pub(crate) async fn save(
    db: &mut PgConnection,
    claimed: &Claimed,
    outcome: &Outcome,
    due_in: Duration,
) -> Result<Option<OffsetDateTime>, sqlx::Error> {
    let sink_id = claimed.sink.id;
    let Outcome { delivered, failed, parked, cursor } = outcome;
    let mut transaction = db.begin().await?;
    let until = sqlx::query_scalar!(
        r#"
        update sink_progress
        set cursor = coalesce($3, cursor), due_at = clock_timestamp() + make_interval(secs => $4)
        where sink_id = $1 and due_at = $2 returning due_at
        "#,
        sink_id,
        claimed.until,
        cursor.as_deref(),
        due_in.as_secs_f64(),
    );
    let Some(until) = until.fetch_optional(&mut *transaction).await? else { return Ok(None) };
    if !delivered.is_empty() {
        sqlx::query!("delete from sink_undelivered where sink_id = $1 and number = any($2)", sink_id, delivered)
            .execute(&mut *transaction)
            .await?;
    }
    if !failed.is_empty() {
        let (numbers, errors): (Vec<_>, Vec<_>) = failed.iter().cloned().unzip();
        sqlx::query!(
            r#"
            update sink_undelivered u
            set attempts = u.attempts + 1, last_error = n.error,
                due_at = clock_timestamp() + make_interval(
                    secs => least($4 * 2 ^ least(u.attempts, 30), $5) * (0.5 + random() / 2)
                )
            from unnest($2::bigint[], $3::text[]) as n (number, error)
            where u.sink_id = $1 and u.number = n.number
            "#,
            sink_id,
            &numbers,
            &errors,
            PAUSE_SECONDS,
            PAUSE_SECONDS_MAX,
        )
        .execute(&mut *transaction)
        .await?;
    }
    for it in parked {
        sqlx::query!(
            r#"
            insert into sink_undelivered
                (sink_id, number, event_id, type, keys, stripe, seq, happened_at, attempts, last_error, due_at)
            select $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9,
                clock_timestamp() + make_interval(secs => case when $8::bigint > 0 then $10 * (0.5 + random() / 2) else 0 end)
            from sink_undelivered where sink_id = $1
            "#,
            sink_id,
            it.id,
            it.kind,
            &it.keys,
            it.stripe,
            it.seq,
            it.time,
            it.attempts,
            it.last_error,
            PAUSE_SECONDS,
        )
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await?;
    Ok(Some(until))
}

/// The sinks that get events, and since when the oldest undelivered event of any of them waits.
pub(crate) async fn watch(db: &mut PgConnection) -> Result<(Vec<Uuid>, Option<OffsetDateTime>), sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select coalesce(array_agg(distinct s.sink_id), '{}') as "active!", min(u.happened_at) as oldest
        from sink s left join sink_undelivered u using (sink_id) where not s.is_paused
        "#
    );
    let row = row.fetch_one(db).await?;
    Ok((row.active, row.oldest))
}
