//! Deletes decisions that are no longer kept.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};

use crate::clock::Clock;
use crate::db::decisions;
use crate::db::session::{checked_time, within};

/// How often old decisions are looked for, and the batches that lose theirs with one statement.
const EVERY: Duration = Duration::from_secs(3600);
const BATCHES: i64 = 1_000;

const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// Deletes what is older than `lifetime`. May be aborted at any time.
pub async fn run(db: PgPool, clock: Clock, lifetime: Duration) {
    let mut every = tokio::time::interval(EVERY);
    loop {
        every.tick().await;
        if let Err(error) = delete_expired(&db, &clock, lifetime).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot delete old decisions");
        }
    }
}

async fn delete_expired(pool: &PgPool, clock: &Clock, lifetime: Duration) -> Result<(), sqlx::Error> {
    loop {
        let db = pool.acquire().await?;
        let delete = async |db: &mut PgConnection| {
            let lifetime = time::Duration::try_from(lifetime).unwrap_or(time::Duration::MAX);
            let before = checked_time(db, clock).await?.saturating_sub(lifetime);
            decisions::delete_before(db, before, BATCHES).await
        };
        if within(db, REPLY_TIME_MAX, delete).await? < BATCHES.unsigned_abs() {
            return Ok(());
        }
    }
}
