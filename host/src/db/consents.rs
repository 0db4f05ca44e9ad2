//! Consent to analytics: the present answer and every answer ever given.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

/// A user's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Yes or no.
    pub granted: bool,
    /// The privacy notice that the user saw.
    pub notice_version: Option<String>,
    /// When the answer was given.
    pub updated_at: OffsetDateTime,
}

/// The user's answer; none means no.
///
/// # Errors
/// When the database fails.
pub async fn find_consent(db: &mut PgConnection, owner: &str) -> Result<Option<Consent>, sqlx::Error> {
    sqlx::query_as!(Consent, "select granted, notice_version, updated_at from consent where owner = $1", owner)
        .fetch_optional(db)
        .await
}

/// Records an answer and keeps it in the history under a new id; run it in a transaction.
///
/// # Errors
/// When the database fails.
pub async fn record_consent(
    db: &mut PgConnection,
    owner: &str,
    consent: &Consent,
    consent_history_id: Uuid,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        insert into consent (owner, granted, notice_version, updated_at) values ($1, $2, $3, $4)
        on conflict (owner) do update
        set granted = excluded.granted, notice_version = excluded.notice_version, updated_at = excluded.updated_at
        "#,
        owner,
        consent.granted,
        consent.notice_version,
        consent.updated_at,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        r#"
        insert into consent_history (consent_history_id, owner, granted, notice_version, created_at)
        values ($1, $2, $3, $4, $5)
        "#,
        consent_history_id,
        owner,
        consent.granted,
        consent.notice_version,
        consent.updated_at,
    )
    .execute(db)
    .await?;
    Ok(())
}
