//! An alarm while payments stay pending for longer than any rail takes.

use std::time::Duration;

use super::courier::{Courier, REPLY_TIME_MAX};
use crate::db::payments::{self, Overdue};
use crate::db::session::within;

/// SPEI settles in seconds; half an hour is an outage, or a payment that a person has to decide on.
const PENDING_MAX: time::Duration = time::Duration::minutes(30);

/// Pause between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Pause between two alarms of one host.
const ALARM_EVERY: time::Duration = time::Duration::hours(1);

impl Courier {
    /// Logs an error, which should page somebody, while there are such payments.
    pub(super) async fn watch(&self) {
        let mut every = tokio::time::interval(LOOK_EVERY);
        let mut quiet_until = None;
        loop {
            every.tick().await;
            let now = self.clock.now();
            if quiet_until.is_some_and(|until| now < until) {
                continue;
            }
            match self.overdue(now - PENDING_MAX).await {
                Ok(Overdue { count: 0, .. }) => {}
                Ok(Overdue { count, parked, oldest }) => {
                    let oldest = oldest.map(crate::clock::timestamp);
                    tracing::error!(count, parked, oldest, "payments are pending for too long: `caudal payments list`");
                    quiet_until = Some(now + ALARM_EVERY);
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot look for old payments");
                }
            }
        }
    }

    async fn overdue(&self, since: time::OffsetDateTime) -> Result<Overdue, sqlx::Error> {
        let overdue = async |db: &mut sqlx::PgConnection| payments::overdue(db, since).await;
        within(self.db.acquire().await?, REPLY_TIME_MAX, overdue).await
    }
}
