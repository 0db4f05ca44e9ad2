//! Consent to analytics: the current answer and its history.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::events;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    pub granted: bool,
    /// Version of the privacy notice that the user saw.
    pub notice_version: Option<String>,
    pub updated_at: OffsetDateTime,
}

/// `None` means no consent.
pub async fn find_consent(db: &mut PgConnection, owner: &str) -> Result<Option<Consent>, sqlx::Error> {
    sqlx::query_as!(Consent, "select granted, notice_version, updated_at from consent where owner = $1", owner)
        .fetch_optional(db)
        .await
}

/// Records an answer. A revocation also discards the owner's queued events.
pub async fn answer(
    db: &mut PgConnection,
    owner: &str,
    consent: Consent,
    consent_history_id: Uuid,
) -> Result<Consent, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // The queue before the consent, the order in which the worker locks them; the reverse could deadlock.
    // The worker drops an event that is queued in between.
    if !consent.granted {
        events::purge_queue(&mut transaction, owner).await?;
    }
    let consent = record_consent(&mut transaction, owner, consent, consent_history_id).await?;
    transaction.commit().await?;
    Ok(consent)
}

/// Records an answer, and adds it to the history under `consent_history_id`, unless it is the same as before. Returns
/// the one that counts, of the answer's time, or one millisecond after the last answer, so that the last one in the
/// history is it.
pub async fn record_consent(
    db: &mut PgConnection,
    owner: &str,
    consent: Consent,
    consent_history_id: Uuid,
) -> Result<Consent, sqlx::Error> {
    let updated_at = sqlx::query_scalar!(
        r#"
        with changed as (
            insert into consent as c (owner, granted, notice_version, updated_at) values ($1, $2, $3, $4)
            on conflict (owner) do update
            set granted = excluded.granted, notice_version = excluded.notice_version,
                -- A request that waited for the row's lock read the clock before its predecessor was stored.
                updated_at = greatest(excluded.updated_at, c.updated_at + interval '1 millisecond')
            where (c.granted, c.notice_version) is distinct from (excluded.granted, excluded.notice_version)
            returning owner, granted, notice_version, updated_at
        ), history as (
            insert into consent_history (consent_history_id, owner, granted, notice_version, created_at)
            select $5, owner, granted, notice_version, updated_at from changed
        )
        select updated_at from changed
        "#,
        owner,
        consent.granted,
        consent.notice_version,
        consent.updated_at,
        consent_history_id,
    )
    .fetch_optional(&mut *db)
    .await?;
    match updated_at {
        Some(updated_at) => Ok(Consent { updated_at, ..consent }),
        None => find_consent(db, owner).await?.ok_or(sqlx::Error::RowNotFound),
    }
}
