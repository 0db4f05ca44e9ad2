//! Which key a ledger's hashes are made with.

use sqlx::PgConnection;
use time::OffsetDateTime;

/// Notes the fingerprint of a key when none is noted yet; gives the one that is.
pub(super) async fn bind(
    db: &mut PgConnection,
    fingerprint: &[u8],
    now: OffsetDateTime,
) -> Result<Vec<u8>, sqlx::Error> {
    let note = sqlx::query!(
        "insert into ledger_key (fingerprint, created_at) values ($1, $2) on conflict do nothing",
        fingerprint,
        now,
    );
    note.execute(&mut *db).await?;
    sqlx::query_scalar!("select fingerprint from ledger_key").fetch_one(db).await
}

/// The fingerprint that is noted.
pub(super) async fn bound(db: &mut PgConnection) -> Result<Option<Vec<u8>>, sqlx::Error> {
    sqlx::query_scalar!("select fingerprint from ledger_key").fetch_optional(db).await
}
