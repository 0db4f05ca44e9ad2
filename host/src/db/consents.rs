//! Consent to analytics: the current answer and its history.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    pub granted: bool,
    /// Version of the privacy notice that the user saw.
    pub notice_version: Option<String>,
    pub updated_at: OffsetDateTime,
}

/// `None` means no consent.
pub(crate) async fn find_consent(db: &mut PgConnection, owner: &str) -> Result<Option<Consent>, sqlx::Error> {
    sqlx::query_as!(Consent, "select granted, notice_version, updated_at from consent where owner = $1", owner)
        .fetch_optional(db)
        .await
}

/// Records an answer, and adds it to the history under `consent_history_id`. Run it in a transaction.
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
