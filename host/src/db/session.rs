//! What holds for every session of the pool.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Executor as _, PgConnection, Postgres};
use tokio::time::timeout;

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

/// Runs `work`, and gives it and the connection up when no reply comes: a connection may be dead and not
/// know it.
///
/// # Errors
/// Those of the work, and one when it takes longer than `time`.
pub async fn within<T>(
    mut db: PoolConnection<Postgres>,
    time: Duration,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    let done = timeout(time, work(&mut db)).await;
    done.unwrap_or_else(|_| {
        db.close_on_drop();
        let silence = std::io::Error::new(std::io::ErrorKind::TimedOut, "the database does not reply");
        Err(sqlx::Error::Io(silence))
    })
}
