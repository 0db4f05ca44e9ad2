//! Session settings and timeouts of the pool's connections.

use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use sqlx::{Connection as _, Executor as _, PgConnection, Postgres};
use time::OffsetDateTime;
use tokio::time::timeout;

use crate::clock::Clock;

/// Far above the few milliseconds that statements, locks and transactions take.
const LIMITS: &str =
    "set statement_timeout = '10s'; set lock_timeout = '2s'; set idle_in_transaction_session_timeout = '10s'";

/// Every statement reads a few rows by key, whatever the size of the tables, so one plan suffices. Left to its
/// estimates, Postgres plans for tables that were small when it analysed them, keeps the plans while the tables grow,
/// and scans whole tables for every batch until it analyses them again. The few statements that need other plans look
/// expensive under these settings; their inflated cost would trigger JIT compilation, which takes a tenth of a second.
const PLANS: &str = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_mergejoin = off; \
    set jit = off";

/// The tables are those of `public`, whatever is set for a role or the database, and a policy that would hide rows is an
/// error instead.
const SCHEMA: &str = "set search_path = public, pg_temp; set row_security = off";

/// Undoes [`PLANS`] and the statement timeout for the rest of a transaction.
const WHOLE_TABLES: &str = "set local statement_timeout = 0; set local plan_cache_mode = auto; \
    set local enable_seqscan = on; set local enable_mergejoin = on";

/// The oldest Postgres whose features the statements use, as it numbers itself.
pub const VERSION_MIN: u32 = 140_000;

/// Postgres' code for what a role may not do.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// Postgres' code for an error that it gives no other code.
const INTERNAL_ERROR: &str = "XX000";

/// Fixes which tables the names in statements mean.
pub async fn fix_schema(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    db.execute(SCHEMA).await.map(drop)
}

/// Applies [`fix_schema`], the limits and the planner settings, by statements rather than start-up parameters, which connection poolers
/// reject.
pub async fn prepare(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    fix_schema(db).await?;
    db.execute(LIMITS).await?;
    db.execute(PLANS).await.map(drop)
}

/// Lets the rest of a transaction scan whole tables, without a timeout.
pub(crate) async fn read_whole_tables(transaction: &mut PgConnection) -> Result<(), sqlx::Error> {
    transaction.execute(WHOLE_TABLES).await.map(drop)
}

/// Lifts the timeout for the rest of a transaction. Its statements read parts of large tables by key, so plans must not
/// scan whole tables, not even through an index, nor run in parallel; which parts is known only when they run.
async fn read_parts(transaction: &mut PgConnection) -> Result<(), sqlx::Error> {
    let settings = "set local statement_timeout = 0; set local plan_cache_mode = auto; \
        set local random_page_cost = 1.1; set local max_parallel_workers_per_gather = 0";
    transaction.execute(settings).await.map(drop)
}

/// Reads parts of large tables in one snapshot, unless the caller has begun a transaction.
pub(crate) async fn read<T>(
    db: &mut PgConnection,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    let mut transaction = if db.is_in_transaction() {
        db.begin().await?
    } else {
        db.begin_with("begin isolation level repeatable read read only").await?
    };
    read_parts(&mut transaction).await?;
    let found = work(&mut transaction).await?;
    // Undoes the settings in the caller's transaction, too.
    transaction.rollback().await?;
    Ok(found)
}

/// The server's version, in the form of [`VERSION_MIN`].
pub async fn version(db: &mut PgConnection) -> Result<u32, sqlx::Error> {
    let version: String = sqlx::query_scalar("show server_version_num").fetch_one(db).await?;
    version.parse().map_err(|error: std::num::ParseIntError| sqlx::Error::Decode(error.into()))
}

/// Whether commits are acknowledged only when they are on disk.
pub async fn is_durable(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let setting: String = sqlx::query_scalar("show synchronous_commit").fetch_one(db).await?;
    Ok(setting != "off")
}

/// Whether the server follows another one, so that nothing can be written.
pub async fn is_replica(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select pg_is_in_recovery()").fetch_one(db).await
}

/// A setting that a crash of the server's machine needs and that is off.
pub async fn unsafe_setting(db: &mut PgConnection) -> Result<Option<String>, sqlx::Error> {
    let off = "select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' limit 1";
    sqlx::query_scalar(off).fetch_optional(db).await
}

/// Whether the system's library orders text otherwise than when the database was created, so that indexes may miss what
/// they hold. Keys are ordered by their bytes, but not every server's catalog is.
pub async fn has_other_collation(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    // Earlier ones do not remember it.
    if version(&mut *db).await? < 150_000 {
        return Ok(false);
    }
    let differs = "select datcollversion is distinct from pg_database_collation_actual_version(oid) from pg_database \
        where datname = current_database()";
    sqlx::query_scalar(differs).fetch_one(db).await
}

/// Whether the database cannot be reached or cannot write now, so that a retry may succeed on another server.
pub fn is_outage(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed => true,
        // A proxy whose server is gone closes the connection, which sqlx takes for a reply to its request for TLS.
        sqlx::Error::Protocol(text) => text.contains("SSLRequest"),
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            // Shutting down or starting up, a broken connection, no disk or connections left, a disk that fails, a server
            // that is now a replica, a session that ended before it began: on a full disk for no stated reason.
            ["57P", "08", "53", "58"].iter().any(|class| code.starts_with(class))
                || code == "25006"
                || code == INTERNAL_ERROR && is_fatal(&**error)
        }),
        _ => false,
    }
}

/// Whether it ended its session.
fn is_fatal(error: &dyn DatabaseError) -> bool {
    let error = error.try_downcast_ref::<PgDatabaseError>();
    error.is_some_and(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic))
}

/// Whether an error, or what caused another one, is that the role lacks a right.
pub fn is_forbidden(cause: &(dyn std::error::Error + 'static)) -> bool {
    let of_sqlx = cause.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
    let code = of_sqlx.and_then(|error| error.code()).map(std::borrow::Cow::into_owned);
    let code = code.or_else(|| cause.downcast_ref::<PgDatabaseError>().map(|error| error.code().to_owned()));
    code.as_deref() == Some(INSUFFICIENT_PRIVILEGE)
}

/// The host's time, for what is decided by it. See [`Clock::checked`].
pub async fn checked_time(db: &mut PgConnection, clock: &Clock) -> Result<OffsetDateTime, sqlx::Error> {
    clock.checked(database_time(db, clock)).await
}

/// The time by the database's clock, for what is decided for good or among hosts.
pub(crate) async fn database_time(db: &mut PgConnection, clock: &Clock) -> Result<OffsetDateTime, sqlx::Error> {
    match clock.fixed_at() {
        Some(at) => Ok(at),
        None => sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#).fetch_one(db).await,
    }
}

/// Runs `work` on a connection, with a timeout: a dead connection may never report an error.
pub(crate) async fn within<T>(
    mut db: PoolConnection<Postgres>,
    time: Duration,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    reply_within(&mut db, time, work).await
}

/// Like [`within`], for a connection that the caller keeps. After a timeout it is closed when dropped.
pub(crate) async fn reply_within<T>(
    db: &mut PoolConnection<Postgres>,
    time: Duration,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    let result = timeout(time, work(db)).await;
    result.unwrap_or_else(|_| {
        db.close_on_drop();
        let timed_out = std::io::Error::new(std::io::ErrorKind::TimedOut, "the database did not reply");
        Err(sqlx::Error::Io(timed_out))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_proxy_without_a_server_is_an_outage() {
        let proxy = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = proxy.local_addr().unwrap();
        let closing = tokio::spawn(async move {
            loop {
                drop(proxy.accept().await);
            }
        });
        for mode in ["disable", "prefer", "require", "verify-full"] {
            let url = format!("postgres://caudal@{address}/caudal?sslmode={mode}");
            let error = PgConnection::connect(&url).await.unwrap_err();
            assert!(is_outage(&error), "{mode}: {error:?}");
        }
        closing.abort();
    }
}
