//! Hands pending payments to their rail and the rail's reports to the ledger, until each payment has a final status.
//!
//! The queue is the table `rail_payment`, written in the commit that moves the money, so it survives restarts. A
//! payment is sent once; every later attempt first asks the rail, and sends again only if the rail never received it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sqlx::PgPool;
use tokio::sync::mpsc;

use super::{Notification, Payment, PaymentStatus, Rail, RailError};
use crate::clock::Clock;
use crate::db::durability::Durability;
use crate::db::payments::{self, DuePayment};
use crate::db::session::within;
use crate::domain::transfer::{RailName, Reason, Report};
// upward: a courier reports to the ledger what became of a payment.
use crate::ledger::{Command, Ledger, LedgerError, Outcome, PaymentReport};

/// Payments claimed at a time.
const CLAIM_LENGTH_MAX: i64 = 32;

/// Concurrent requests to the rail.
const REQUESTS_MAX: usize = 8;

/// Pause between two polls for due payments.
const POLL_EVERY: Duration = Duration::from_millis(250);

/// How long a claim lasts: longer than a request to a rail. If the host crashes, another one then takes over.
const CLAIM: Duration = Duration::from_secs(60);

/// Age of a payment at its first attempt, at most: far more than the pause between two polls, far less than a restore takes.
const FRESH_MAX: time::Duration = time::Duration::seconds(10);

/// Pause before a payment's next attempt, doubling from the first to the longest.
const RETRY_AFTER_MIN: Duration = Duration::from_secs(2);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(20 * 60);

/// Longest wait for a reply from the database.
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// Most notifications queued.
pub const NOTIFICATIONS_MAX: usize = 1024;

/// Attempts to submit a report to a busy ledger. After that, the payment's next attempt asks the rail again;
/// a lost return appears only in the log.
const SUBMISSIONS_MAX: u32 = 5;

/// Pause between two submissions.
const SUBMIT_EVERY: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub struct Courier {
    pub db: PgPool,
    pub durability: Durability,
    pub ledger: Ledger,
    pub rail: Arc<dyn Rail>,
    pub name: RailName,
    pub clock: Clock,
}

impl Courier {
    /// Runs until it is aborted, which is safe at any time.
    pub async fn run(self, mut notifications: mpsc::Receiver<Notification>) {
        let receive = async {
            while let Some(notification) = notifications.recv().await {
                if !self.accept(&notification).await {
                    let Notification { tracking_key, status } = &notification;
                    tracing::warn!(tracking_key, ?status, "a notification from the rail was lost");
                }
            }
        };
        let poll = async {
            let mut every = tokio::time::interval(POLL_EVERY);
            every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                every.tick().await;
                if let Err(error) = self.process_due().await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot process due payments");
                }
            }
        };
        tokio::join!(receive, poll);
    }

    /// Payments left unprocessed after an error become due again.
    async fn process_due(&self) -> Result<(), sqlx::Error> {
        loop {
            let now = self.clock.now();
            let claim = async |db: &mut sqlx::PgConnection| {
                payments::claim(db, self.name, now, now + CLAIM, CLAIM_LENGTH_MAX).await
            };
            // The claim is a write, so once it is confirmed, the transfers that it read are too.
            let claimed = within(self.db.acquire().await?, REPLY_TIME_MAX, claim);
            let due = self.durability.confirmed(claimed).await?;
            let is_last = (due.len() as i64) < CLAIM_LENGTH_MAX;
            let mut attempts = stream::iter(due).map(|due| self.attempt(due)).buffer_unordered(REQUESTS_MAX);
            while let Some(result) = attempts.next().await {
                result?;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    async fn attempt(&self, DuePayment { payment, attempts, from_account_id }: DuePayment) -> Result<(), sqlx::Error> {
        let status = match self.ask(&payment, attempts).await {
            Ok(status) => status,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, tracking_key = payment.tracking_key, "rail request failed; will retry");
                PaymentStatus::Accepted
            }
        };
        let is_reported = match report_of(&status) {
            Some((report, reason)) => {
                self.report(PaymentReport {
                    transfer_id: payment.transfer_id,
                    account_id: from_account_id,
                    report,
                    reason,
                    return_id: self.clock.new_id(),
                })
                .await
            }
            None => false,
        };
        if is_reported {
            return Ok(());
        }
        let due_at = self.clock.now() + retry_after(attempts);
        let postpone = async |db: &mut sqlx::PgConnection| payments::postpone(db, payment.transfer_id, due_at).await;
        within(self.db.acquire().await?, REPLY_TIME_MAX, postpone).await
    }

    async fn ask(&self, payment: &Payment, attempts: i32) -> Result<PaymentStatus, RailError> {
        if may_be_known(attempts, self.clock.now() - payment.created_at)
            && let Some(status) = self.rail.find(payment).await?
        {
            return Ok(status);
        }
        self.rail.send(payment).await
    }

    /// Reports a notification to the ledger. False if that failed: the rail must send it again.
    pub(crate) async fn accept(&self, Notification { tracking_key, status }: &Notification) -> bool {
        let Some((report, reason)) = report_of(status) else { return true };
        let find = async |db: &mut sqlx::PgConnection| payments::find(db, tracking_key).await;
        let found = match self.db.acquire().await {
            Ok(db) => within(db, REPLY_TIME_MAX, find).await,
            Err(error) => Err(error),
        };
        let (transfer_id, account_id) = match found {
            Ok(Some(found)) => found,
            Ok(None) => {
                tracing::warn!(tracking_key, "the rail sent a notification about an unknown payment");
                return true;
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot look up a payment");
                return false;
            }
        };
        let return_id = self.clock.new_id();
        self.report(PaymentReport { transfer_id, account_id, report, reason, return_id }).await
    }

    /// Whether the ledger processed the report.
    async fn report(&self, report: PaymentReport) -> bool {
        let transfer_id = report.transfer_id;
        for _ in 0..SUBMISSIONS_MAX {
            match self.ledger.submit(Command::Report(report.clone())).await {
                Ok(Outcome::StatusUnchanged(status)) => {
                    tracing::info!(%transfer_id, %status, "the rail's report had no effect");
                    return true;
                }
                Ok(Outcome::StatusChanged(_) | Outcome::Returned) => return true,
                Ok(outcome) => {
                    tracing::error!(%transfer_id, ?outcome, "the rail's report cannot be booked");
                    return false;
                }
                Err(LedgerError::Closed) => return false,
                // Reports are idempotent, so resubmitting one is safe even if the outcome is unknown.
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot book the rail's report; will retry"
                    );
                    tokio::time::sleep(SUBMIT_EVERY).await;
                }
            }
        }
        false
    }
}

fn report_of(status: &PaymentStatus) -> Option<(Report, Option<Reason>)> {
    let parse = |reason: &Option<String>| reason.as_deref().and_then(Reason::parse);
    match status {
        PaymentStatus::Accepted => None,
        PaymentStatus::Settled => Some((Report::Settled, None)),
        PaymentStatus::Rejected(reason) => Some((Report::Rejected, parse(reason))),
        PaymentStatus::Returned(reason) => Some((Report::Returned, parse(reason))),
    }
}

/// Whether the rail may have the payment already. Attempts are counted before they are made, so at the first one it cannot,
/// unless a backup was restored that is older than the attempt: then the payment is no longer fresh.
fn may_be_known(attempts: i32, age: time::Duration) -> bool {
    attempts > 0 || age > FRESH_MAX
}

fn retry_after(attempts: i32) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(0).min(20);
    RETRY_AFTER_MIN.saturating_mul(1 << doublings).min(RETRY_AFTER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rail_is_asked_before_it_gets_a_payment_that_it_may_have() {
        let (fresh, restored) = (time::Duration::seconds(1), time::Duration::minutes(5));
        assert!(!may_be_known(0, fresh));
        assert!(may_be_known(1, fresh) && may_be_known(0, restored));
    }
}
