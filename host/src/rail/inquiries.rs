//! Inquiries about payments after a notice. A notice proves nothing, so what it says is ignored: it makes the courier
//! ask the rail, and only the rail's answer is booked.

use std::time::Duration;

use futures_util::future::join_all;
use time::OffsetDateTime;
use tokio::time::{Instant, timeout_at};

use super::RailError;
use super::calendar::operating_date;
use super::courier::{CLAIM_LENGTH_MAX, Courier, REPLY_TIME_MAX, retry_after};
use crate::db::payments::{self, DuePayment};
use crate::db::session::within;

/// Shortest time between two inquiries about one payment, however many notices arrive.
const INQUIRY_PAUSE: Duration = Duration::from_secs(10);

impl Courier {
    /// Makes an inquiry due, durably. False for a tracking key of no payment of this rail, which is ignored.
    ///
    /// # Errors
    /// When the database fails: the rail must send the notice again.
    pub(crate) async fn notice(&self, tracking_key: &str) -> Result<bool, sqlx::Error> {
        let Some(noticed) = self.noticed(tracking_key).await? else { return Ok(false) };
        let (now, date) = (self.clock.now(), operating_date(noticed.created_at));
        let request = async |db: &mut sqlx::PgConnection| {
            payments::request_inquiry(db, self.name, &noticed, date, now, INQUIRY_PAUSE).await
        };
        let requested = async { within(self.db.acquire().await?, REPLY_TIME_MAX, request).await };
        self.barrier.confirmed(requested).await.map(|()| true)
    }

    pub(super) async fn inquire_due(&self) -> Result<(), sqlx::Error> {
        loop {
            let (now, deadline) = (self.clock.now(), self.deadline());
            let until = now + self.claim;
            let claim = async |db: &mut sqlx::PgConnection| {
                payments::claim_inquiries(db, self.name, (now, until), CLAIM_LENGTH_MAX).await
            };
            let claimed = async { within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await };
            let due = self.barrier.confirmed(claimed).await?;
            let is_last = (due.len() as i64) < CLAIM_LENGTH_MAX;
            let inquiries = join_all(due.into_iter().map(|due| self.inquire(due, until, deadline))).await;
            inquiries.into_iter().collect::<Result<(), _>>()?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Asks once, and never sends.
    async fn inquire(&self, due: DuePayment, until: OffsetDateTime, deadline: Instant) -> Result<(), sqlx::Error> {
        let DuePayment { payment, attempts, from_account_id, .. } = due;
        let tracking_key = &payment.tracking_key;
        let is_done = match timeout_at(deadline, self.rail.find(&payment)).await {
            Ok(Ok(Some(status))) => self.book(payment.transfer_id, from_account_id, &status).await != Some(false),
            // It is about to be sent, or was settled by hand.
            Ok(Ok(None)) => {
                tracing::warn!(tracking_key, "the rail does not have a payment that a notice was about");
                true
            }
            Ok(Err(RailError::Undecided(error))) => {
                let error = format!("{error:#}");
                tracing::error!(error, tracking_key, "a person has to decide on a payment that a notice was about");
                true
            }
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, tracking_key, "inquiry failed; will retry");
                false
            }
            Err(_) => false,
        };
        let pause = (!is_done).then(|| retry_after(attempts));
        let end = async |db: &mut sqlx::PgConnection| {
            payments::end_inquiry(db, payment.transfer_id, until, || self.clock.now(), pause).await
        };
        within(self.db.acquire().await?, REPLY_TIME_MAX, end).await
    }
}
