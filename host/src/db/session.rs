//! What holds for every session of the pool.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Executor as _, PgConnection, Postgres};
use tokio::time::timeout;

/// What a session may take before Postgres ends it: a statement, the wait for one lock, and a
/// transaction that nobody goes on with. All are far above the milliseconds that ours need.
const LIMITS: &str =
    "set statement_timeout = '10s'; set lock_timeout = '2s'; set idle_in_transaction_session_timeout = '10s'";

/// How statements are planned. Each reads a few rows by a key, however long the tables are, so each has one plan: by
/// the key, made once. Left to its estimates, Postgres makes plans for tables that were short when it looked, keeps
/// them while the tables grow, and reads them whole for every batch: slower with every transfer, until it looks again.
/// What this makes the few other plans seem to cost would have them compiled, which takes a tenth of a second.
const PLANS: &str = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_mergejoin = off; \
    set jit = off";

/// The opposite, for the rest of a transaction.
const WHOLE_TABLES: &str = "set local statement_timeout = 0; set local plan_cache_mode = auto; \
    set local enable_seqscan = on; set local enable_mergejoin = on";

/// Prepares a session for reading and writing by keys, with limits. By statements rather than start-up parameters,
/// which connection poolers refuse.
///
/// # Errors
/// When the database fails.
pub async fn prepare(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    db.execute(LIMITS).await?;
    db.execute(PLANS).await.map(drop)
}

/// Lets the rest of a transaction read whole tables, for as long as it takes.
///
/// # Errors
/// When the database fails.
pub async fn read_whole_tables(transaction: &mut PgConnection) -> Result<(), sqlx::Error> {
    transaction.execute(WHOLE_TABLES).await.map(drop)
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
    reply_within(&mut db, time, work).await
}

/// As [`within`]. A connection that did not reply is closed when it is dropped.
///
/// # Errors
/// Those of the work, and one when it takes longer than `time`.
pub async fn reply_within<T>(
    db: &mut PoolConnection<Postgres>,
    time: Duration,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    let done = timeout(time, work(db)).await;
    done.unwrap_or_else(|_| {
        db.close_on_drop();
        let silence = std::io::Error::new(std::io::ErrorKind::TimedOut, "the database does not reply");
        Err(sqlx::Error::Io(silence))
    })
}
