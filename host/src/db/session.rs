//! What holds for every session of the pool.

use sqlx::{Executor as _, PgConnection};

/// What a session may take before Postgres ends it: a statement, the wait for one lock, and a
/// transaction that nobody goes on with. All are far above the milliseconds that ours need.
const LIMITS: &str =
    "set statement_timeout = '10s'; set lock_timeout = '2s'; set idle_in_transaction_session_timeout = '10s'";

/// Sets the limits, by a statement rather than start-up parameters, which connection poolers refuse.
///
/// # Errors
/// When the database fails.
pub async fn limit(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    db.execute(LIMITS).await.map(drop)
}

/// Whether a commit is on disk before it is answered.
///
/// # Errors
/// When the database fails.
pub async fn is_durable(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let setting: String = sqlx::query_scalar("show synchronous_commit").fetch_one(db).await?;
    Ok(setting != "off")
}
