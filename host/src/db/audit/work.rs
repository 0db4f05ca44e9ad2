//! How much there is to read.

use sqlx::PgConnection;

/// Rows that a proof of every batch reads, as the batches count them: without reading the tables.
pub(crate) async fn count(db: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select (select count(*) from account where kind = 'customer') + coalesce(
            sum(1 + transfers_meant::bigint + entries_meant + statuses_meant + keys_meant), 0
        )::bigint as "rows!"
        from ledger_batch
        "#
    )
    .fetch_one(db)
    .await
}
