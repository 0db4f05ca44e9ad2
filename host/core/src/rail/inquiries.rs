//! Inquiries about payments after a notice, and when their days are over. A notice proves nothing, so what it says is
//! ignored: it makes the courier ask the rail, and only the rail's answer is booked.

use std::time::Duration;

use anyhow::anyhow;
use time::{Date, OffsetDateTime};
use tokio::time::timeout;

use super::RailError;
use super::calendar::{operating_date, review_after};
use super::courier::{ALTERED, Courier, REPLY_TIME_MAX, WORKERS, retry_after};
use crate::db::payments::{DuePayment, inquiries};
use crate::db::session::{checked_time, within};
use crate::domain::transfer::RailName;

/// Shortest time between two inquiries about one payment, however many notices arrive.
const INQUIRY_PAUSE: Duration = Duration::from_secs(10);

impl Courier {
    /// Makes an inquiry due, durably. False for a tracking key of no payment of this rail, which is ignored.
    ///
    /// # Errors
    /// When the database fails: the rail must send the notice again.
    pub async fn notice(&self, tracking_key: &str) -> Result<bool, sqlx::Error> {
        let Some(noticed) = self.noticed(tracking_key).await? else { return Ok(false) };
        let date = operating_date(noticed.created_at);
        let request = async |db: &mut sqlx::PgConnection| {
            inquiries::request(db, &noticed, (self.name, date), self.clock.fixed_at(), INQUIRY_PAUSE).await
        };
        let requested = async { within(self.db.acquire().await?, REPLY_TIME_MAX, request).await };
        self.barrier.confirmed(requested).await.map(|()| true)
    }

    pub(super) async fn inquire_due(&self) -> Result<(), sqlx::Error> {
        let work = |due| {
            let courier = self.clone();
            async move {
                if let Err(error) = courier.inquire(due).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot inquire about a payment");
                }
            }
        };
        WORKERS.work_off(|limit| self.claim_inquiries(limit), work).await
    }

    async fn claim_inquiries(&self, limit: i64) -> Result<Vec<DuePayment>, sqlx::Error> {
        let claim = async |db: &mut sqlx::PgConnection| {
            inquiries::claim(db, (self.name, &self.key), (self.clock.fixed_at(), self.claim), limit).await
        };
        self.barrier.confirmed(async { within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await }).await
    }

    /// Asks once, and never sends.
    async fn inquire(&self, due: DuePayment) -> Result<(), sqlx::Error> {
        let DuePayment { payment, attempts, from_account_id, .. } = &due;
        let tracking_key = &payment.tracking_key;
        let find = async {
            if due.is_sealed { self.rail.find(payment).await } else { Err(RailError::Undecided(anyhow!(ALTERED))) }
        };
        let is_done = match timeout(self.work_time(), find).await {
            Ok(Ok(Some(status))) => self.book(payment.transfer_id, *from_account_id, &status).await != Some(false),
            Ok(Ok(None)) if due.is_settled => {
                self.metrics.rail_contradictions.of(["missing"]).inc();
                tracing::error!(tracking_key, "the rail does not have a payment that has settled");
                true
            }
            // It is about to be sent, or was refunded.
            Ok(Ok(None)) => {
                tracing::warn!(tracking_key, "the rail does not have a payment that it was asked about");
                true
            }
            Ok(Err(RailError::Undecided(error))) => {
                if due.is_settled {
                    self.metrics.rail_contradictions.of(["undecided"]).inc();
                }
                let error = format!("{error:#}");
                tracing::error!(error, tracking_key, "a person has to decide on a payment that was asked about");
                true
            }
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, tracking_key, "inquiry failed; will retry");
                false
            }
            Err(_) => false,
        };
        let pause = (!is_done).then(|| retry_after(*attempts));
        let end = async |db: &mut sqlx::PgConnection| {
            let now = checked_time(db, &self.clock).await?;
            let next = pause.map_or_else(|| self.review_at(payment.operating_date, now), |pause| Some(now + pause));
            inquiries::end(db, &due, &self.clock, (next, is_done)).await
        };
        within(self.db.acquire().await?, REPLY_TIME_MAX, end).await
    }

    /// When a payment of an operating date is asked about next, without a notice: a notice of its return may be lost. The
    /// simulated rail has no days.
    pub(super) fn review_at(&self, date: Date, now: OffsetDateTime) -> Option<OffsetDateTime> {
        review_after(date, now).filter(|_| self.name == RailName::Stp)
    }
}
