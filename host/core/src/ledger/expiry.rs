//! Releases holds whose time is over.
//!
//! Every host does, and a hold that another host has released is left as it is.

use std::time::Duration;

use futures_util::future::join_all;
use sqlx::PgPool;

use super::command::{Command, Outcome, Refusal, ReleaseHold};
use super::job::LedgerError;
use super::queue::Ledger;
use crate::clock::Clock;
use crate::db::holds;
use crate::db::session::{checked_time, within};

/// Pause between two polls. A hold cannot be captured from its time on; this is how much longer its money is set aside.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// Holds released at a time: half a batch, which leaves the queue to customers.
const RELEASED_MAX: i64 = 64;

/// Longest wait for a reply from the database.
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// Follows the holds of a ledger.
pub struct Expiry {
    pub db: PgPool,
    pub ledger: Ledger,
    pub clock: Clock,
}

impl Expiry {
    /// Runs until it is aborted, which is safe at any time.
    pub async fn run(self) {
        let mut every = tokio::time::interval(POLL_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if let Err(error) = self.release_due().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot release expired holds");
            }
        }
    }

    async fn release_due(&self) -> Result<(), LedgerError> {
        while self.release_some().await? == RELEASED_MAX {}
        Ok(())
    }

    /// Returns how many were released.
    async fn release_some(&self) -> Result<i64, LedgerError> {
        let list = async |db: &mut sqlx::PgConnection| {
            let now = checked_time(db, &self.clock).await?;
            holds::list_due(db, now, RELEASED_MAX).await
        };
        let due = within(self.db.acquire().await?, REPLY_TIME_MAX, list).await?;
        let releases = due.into_iter().map(|(hold_id, account_id)| {
            self.ledger.submit(Command::Release(ReleaseHold { hold_id, account_id, owner: None }))
        });
        let mut released = 0;
        for outcome in join_all(releases).await {
            match outcome? {
                Outcome::Released(_) => released += 1,
                // It was captured or voided in the meantime.
                Outcome::Refused(Refusal::HoldEnded(_)) => {}
                other => tracing::error!(?other, "an expired hold was not released"),
            }
        }
        Ok(released)
    }
}
