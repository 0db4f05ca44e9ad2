//! Sinks, as operators manage them. Audit records cover what they are, not how far they are.

pub(crate) mod delivery;

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::outbox::Position;
use super::records::{self, Change, Subject};
use crate::domain::sink::{Order, Sink, Undelivered};
use crate::sealing::ChainKey;

/// Inserts a sink. False if there are so many already.
pub async fn insert(db: &mut PgConnection, key: &ChainKey, it: &Sink, most: i64) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // One at a time, so that the count is right.
    records::take_turn(&mut transaction).await?;
    let inserted = sqlx::query!(
        r#"
        with added as (
            insert into sink (sink_id, kind, url, types, is_paused, created_by, created_at)
            select $1, $2, $3, $4, $5, $6, $7 where (select count(*) from sink) < $9 returning sink_id
        )
        insert into sink_progress (sink_id, cursor, due_at) select sink_id, $8, clock_timestamp() from added
        "#,
        it.id,
        it.kind,
        it.url,
        &it.types,
        it.is_paused,
        it.created_by,
        it.created_at,
        it.cursor,
        most,
    );
    if inserted.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    records::append(&mut transaction, key, Change::new(Subject::Sink, it.id, "add", &it.created_by), it.created_at)
        .await?;
    transaction.commit().await?;
    Ok(true)
}

/// All sinks, oldest first.
pub async fn list(db: &mut PgConnection) -> Result<Vec<Sink>, sqlx::Error> {
    let sinks = sqlx::query_as!(
        Sink,
        r#"
        select s.sink_id as id, s.kind, s.url, s.types, s.is_paused, s.created_by, s.created_at, p.cursor,
            count(u.number) as "undelivered!", min(u.happened_at) as oldest_undelivered_at
        from sink s join sink_progress p using (sink_id) left join sink_undelivered u using (sink_id)
        group by s.sink_id, p.cursor order by s.created_at, s.sink_id
        "#
    );
    sinks.fetch_all(db).await
}

/// Carries out what an operator wants; everything is sent again after a position, which is given as a cursor too. False
/// if there is no such sink, or it was altered.
pub async fn change(
    db: &mut PgConnection,
    key: &ChainKey,
    (sink_id, order, from): (Uuid, Order, Option<(&Position, &str)>),
    by: &str,
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // The host that is delivering finds its claim gone.
    let due = sqlx::query!("update sink_progress set due_at = clock_timestamp() where sink_id = $1", sink_id);
    if due.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    // What somebody altered must not be put on record.
    let is_sound = records::is_sound(&mut transaction, key, Subject::Sink, &sink_id.to_string()).await?;
    if !is_sound && order != Order::Remove {
        tracing::error!(%sink_id, "a sink was altered: run `caudal verify`, then remove it");
        return Ok(false);
    }
    let done = match (order, from) {
        (Order::Pause | Order::Resume, _) => {
            let is_paused = order == Order::Pause;
            sqlx::query!("update sink set is_paused = $2 where sink_id = $1", sink_id, is_paused)
                .execute(&mut *transaction)
        }
        (Order::Remove, _) => sqlx::query!("delete from sink where sink_id = $1", sink_id).execute(&mut *transaction),
        (Order::Resend, None) => {
            sqlx::query!("update sink_undelivered set due_at = clock_timestamp() where sink_id = $1", sink_id)
                .execute(&mut *transaction)
        }
        (Order::Resend, Some((position, cursor))) => {
            let (stripes, nexts): (Vec<_>, Vec<_>) =
                position.next.iter().map(|(stripe, next)| (*stripe, *next)).unzip();
            // What is read again must not be delivered twice.
            sqlx::query!(
                r#"
                with again as (
                    update sink_progress set cursor = $5 where sink_id = $1
                )
                delete from sink_undelivered u
                where sink_id = $1 and (stripe < 0 or stripe >= $4) and seq >= coalesce((
                    select next from unnest($2::smallint[], $3::bigint[]) as c (stripe, next) where c.stripe = u.stripe
                ), 0)
                "#,
                sink_id,
                &stripes,
                &nexts,
                position.floor,
                cursor,
            )
            .execute(&mut *transaction)
        }
    };
    done.await?;
    records::append(&mut transaction, key, Change::new(Subject::Sink, sink_id, order.as_str(), by), now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// What a sink did not accept, in the order in which it is to arrive.
pub async fn undelivered(db: &mut PgConnection, sink_id: Uuid) -> Result<Vec<Undelivered>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Undelivered,
        r#"
        select event_id as id, type as kind, keys, happened_at as time, attempts, last_error, number, stripe, seq,
            due_at <= clock_timestamp() as "is_due!"
        from sink_undelivered where sink_id = $1 order by number
        "#,
        sink_id,
    );
    rows.fetch_all(db).await
}
