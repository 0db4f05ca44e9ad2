//! Looks at what is pending: for metrics, and for an alarm while payments stay pending for longer than any rail takes.

use std::time::Duration;

use tokio::time::Instant;

use super::courier::{Courier, REPLY_TIME_MAX};
use crate::db::payments::{self, Overdue};
use crate::db::session::within;

/// SPEI settles in seconds; half an hour is an outage, or a payment that a person has to decide on.
const PENDING_MAX: time::Duration = time::Duration::minutes(30);

/// Pause between two looks, at least.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Minimum ratio of the pause to the look before it: many payments are pending while the rail is down, and counting
/// them must not keep the database busy.
const PAUSE_RATIO: u32 = 20;

/// Pause between two alarms of one host.
const ALARM_EVERY: time::Duration = time::Duration::hours(1);

impl Courier {
    /// Logs an error, which should page somebody, while there are such payments.
    pub(super) async fn watch(&self) {
        // Shown before they happen, so that an alert sees the first.
        ["settled", "rejected", "missing", "undecided", "changed"]
            .iter()
            .for_each(|report| drop(self.metrics.rail_contradictions.of([report])));
        let mut quiet_until = None;
        loop {
            let begun = Instant::now();
            let now = self.clock.now();
            let is_quiet = quiet_until.is_some_and(|until| now < until);
            match self.look(now, is_quiet).await {
                Ok(false) => {}
                Ok(true) => quiet_until = Some(now + ALARM_EVERY),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot look for old payments");
                }
            }
            tokio::time::sleep(LOOK_EVERY.max(begun.elapsed() * PAUSE_RATIO)).await;
        }
    }

    /// Whether it raised the alarm.
    async fn look(&self, now: time::OffsetDateTime, is_quiet: bool) -> Result<bool, sqlx::Error> {
        let Overdue { count, parked, oldest } = self.pending_since(now).await?;
        self.metrics.payments.of(["under-way"]).set(count - parked);
        self.metrics.payments.of(["parked"]).set(parked);
        self.metrics.oldest_payment.set(oldest.map_or(0, time::OffsetDateTime::unix_timestamp));
        if is_quiet || oldest.is_none_or(|oldest| oldest >= now - PENDING_MAX) {
            return Ok(false);
        }
        let Overdue { count, parked, oldest } = self.pending_since(now - PENDING_MAX).await?;
        let oldest = oldest.map(crate::clock::timestamp);
        tracing::error!(count, parked, oldest, "payments are pending for too long: `caudal payments list`");
        Ok(true)
    }

    async fn pending_since(&self, since: time::OffsetDateTime) -> Result<Overdue, sqlx::Error> {
        let overdue = async |db: &mut sqlx::PgConnection| payments::overdue(db, since).await;
        within(self.db.acquire().await?, REPLY_TIME_MAX, overdue).await
    }
}
