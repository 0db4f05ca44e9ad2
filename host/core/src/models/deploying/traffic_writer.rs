//! Stores what the versions on this host did, and deletes what is old.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::db::counts::{self, Count};
use crate::db::session::within;
use crate::domain::model::Digest;
use crate::models::deploying::loading::DATABASE_TIME_MAX;
use crate::models::observing::tally::{RETENTION_MINUTES, Taken};
use crate::models::serving::component::LoadedComponent;

/// How often old counts are deleted.
const PURGE_EVERY: Duration = Duration::from_secs(600);

#[derive(Default)]
pub(super) struct TrafficWriter {
    purged: Option<Instant>,
}

impl TrafficWriter {
    /// Counts that cannot be stored are kept for the next call.
    pub(super) async fn store(
        &mut self,
        pool: &PgPool,
        components: &HashMap<Digest, LoadedComponent>,
        now: OffsetDateTime,
    ) -> Result<(), sqlx::Error> {
        let taken: Vec<_> = components.values().map(|it| (it, it.tally().take())).collect();
        let counts_of = |(component, taken): &(&LoadedComponent, Vec<Taken>)| {
            let (kind, digest) = (component.identity().kind, component.identity().digest);
            let count = |&(measure, bucket, count): &Taken| {
                let (measure, bucket) = (measure.to_string(), bucket as i32);
                Count { kind, at: now, digest, measure, bucket, count: count.into() }
            };
            taken.iter().map(count).collect::<Vec<_>>()
        };
        let rows: Vec<_> = taken.iter().flat_map(counts_of).collect();
        let is_due = self.purged.is_none_or(|at| at.elapsed() >= PURGE_EVERY);
        if rows.is_empty() && !is_due {
            return Ok(());
        }
        let stored = match pool.acquire().await {
            Ok(db) => within(db, DATABASE_TIME_MAX, async |db| counts::add_traffic(db, &rows).await).await,
            Err(error) => Err(error),
        };
        if stored.is_err() {
            taken.iter().for_each(|(component, taken)| component.tally().give_back(taken));
            return stored;
        }
        if is_due {
            let (db, before) = (pool.acquire().await?, now - time::Duration::minutes(RETENTION_MINUTES.into()));
            within(db, DATABASE_TIME_MAX, async |db| counts::delete_traffic(db, before).await).await?;
            self.purged = Some(Instant::now());
        }
        Ok(())
    }
}
