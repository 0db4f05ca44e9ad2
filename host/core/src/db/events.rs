//! Analytics events: queued, then stored. All text is redacted before it gets here.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub event_id: Uuid,
    pub screen: String,
    pub event_type: String,
    pub details: Option<String>,
    pub received_at: OffsetDateTime,
}

/// Queues an event if its user consents.
pub async fn enqueue_event(db: &mut PgConnection, owner: &str, event: &Event) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        insert into event_queue (event_id, owner, screen, event_type, details, received_at)
        select $1, owner, $3, $4, $5, $6 from consent where owner = $2 and granted
        "#,
        event.event_id,
        owner,
        event.screen,
        event.event_type,
        event.details,
        event.received_at,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes a user's queued events.
pub(crate) async fn purge_queue(db: &mut PgConnection, owner: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from event_queue where owner = $1", owner).execute(db).await?;
    Ok(())
}

/// Moves up to `limit` events, oldest first, from the queue to the store in one statement, and drops those whose user
/// revoked consent. Returns how many left the queue.
///
/// Skips rows that another worker has locked. Consent rows stay locked until the end, so a revocation is
/// either seen here, or waits and then finds the queue empty.
pub async fn store_queued(db: &mut PgConnection, limit: i64, now: OffsetDateTime) -> Result<u64, sqlx::Error> {
    let taken = sqlx::query_scalar!(
        r#"
        with next as (
            select event_id from event_queue order by received_at, event_id limit $1 for update skip locked
        ), taken as (
            delete from event_queue using next where event_queue.event_id = next.event_id
            returning event_queue.*
        ), consenting as (
            select owner from consent where granted and owner in (select owner from taken)
            order by owner for share
        ), stored as (
            insert into event (event_id, owner, screen, event_type, details, received_at, stored_at)
            select event_id, owner, screen, event_type, details, received_at, $2
            from taken join consenting using (owner)
        )
        select count(*) as "count!" from taken
        "#,
        limit,
        now,
    )
    .fetch_one(db)
    .await?;
    Ok(taken.unsigned_abs())
}

/// Returns how many stored events were deleted.
pub async fn delete_events_before(db: &mut PgConnection, before: OffsetDateTime) -> Result<u64, sqlx::Error> {
    Ok(sqlx::query!("delete from event where received_at < $1", before).execute(db).await?.rows_affected())
}
