//! The fingerprint of the key to which a ledger is bound.

use sqlx::PgConnection;
use time::OffsetDateTime;

/// Binds the ledger to a key if it is not bound yet. Returns the fingerprint of the key to which it is bound.
pub(super) async fn bind(
    db: &mut PgConnection,
    fingerprint: &[u8],
    now: OffsetDateTime,
) -> Result<Vec<u8>, sqlx::Error> {
    let insert = sqlx::query!(
        "insert into ledger_key (fingerprint, created_at) values ($1, $2) on conflict do nothing",
        fingerprint,
        now,
    );
    insert.execute(&mut *db).await?;
    sqlx::query_scalar!("select fingerprint from ledger_key").fetch_one(db).await
}

/// Binds the ledger to a new key.
pub(super) async fn rebind(db: &mut PgConnection, fingerprint: &[u8], now: OffsetDateTime) -> Result<(), sqlx::Error> {
    let update = sqlx::query!("update ledger_key set fingerprint = $1, created_at = $2", fingerprint, now);
    update.execute(db).await.map(drop)
}

pub(super) async fn bound(db: &mut PgConnection) -> Result<Option<Vec<u8>>, sqlx::Error> {
    sqlx::query_scalar!("select fingerprint from ledger_key").fetch_optional(db).await
}
