//! Hands pending payments to their rail and the rail's reports to the ledger, until each payment has a final status.
//!
//! The queue is the table `rail_payment`, written in the commit that moves the money, so it survives restarts. A
//! payment is sent once; every later attempt first asks the rail, and sends again only if the rail never received it.
//! What a person has to decide is parked.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use futures_util::future::join_all;
use sqlx::PgPool;
use time::Date;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::calendar::{is_business_day, operating_date};
use super::{Notification, Payment, PaymentStatus, Rail, RailError};
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::db::payments::{self, DuePayment, Noticed};
use crate::db::session::within;
use crate::domain::transfer::{RailName, Reason, Report, Status};
use crate::ledger::{Command, Ledger, LedgerError, Outcome, PaymentReport};
use crate::metrics::Metrics;

/// Payments claimed at a time. The rail is asked about all of them at once, so that none waits while its claim runs
/// out.
pub(super) const CLAIM_LENGTH_MAX: i64 = 16;

/// Pause between two polls for due payments.
const POLL_EVERY: Duration = Duration::from_millis(250);

/// How long a claim lasts, by default. If the host crashes, another one then takes over.
pub const CLAIM: Duration = Duration::from_secs(60);

/// The part of a claim after which its work is abandoned, and the rail is asked again later. By default the rest is
/// 15 s, for clocks that differ between hosts; the work takes two requests of 15 s at most, unless a payment has
/// several possible dates.
const WORK_SHARE: f64 = 0.75;

/// Age of a payment at its first attempt, at most: far more than the pause between two polls, far less than a restore
/// takes.
const FRESH_MAX: time::Duration = time::Duration::seconds(10);

/// Operating dates that a payment may have been sent for before a backup was restored. One that is older is parked.
const DATES_MAX: usize = 5;

/// Pause before a payment's next attempt, doubling from the first to the longest.
const RETRY_AFTER_MIN: Duration = Duration::from_secs(2);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(20 * 60);

/// Longest wait for a reply from the database.
pub(super) const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// Most notifications queued.
pub const NOTIFICATIONS_MAX: usize = 1024;

/// Attempts to submit a report to a busy ledger. After that, the payment's next attempt asks the rail again.
const SUBMISSIONS_MAX: u32 = 5;

/// Pause between two submissions.
const SUBMIT_EVERY: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub struct Courier {
    pub db: PgPool,
    pub barrier: Barrier,
    pub ledger: Ledger,
    pub rail: Arc<dyn Rail>,
    pub name: RailName,
    pub clock: Clock,
    pub metrics: Metrics,
    /// How long a claim lasts, usually [`CLAIM`].
    pub claim: Duration,
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
                // Notices come after their payments settled, for most payments, and must not wait for those that do
                // not.
                let (payments, inquiries) = tokio::join!(self.process_due(), self.inquire_due());
                if let Err(error) = payments.and(inquiries) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot process due payments");
                }
            }
        };
        tokio::join!(receive, poll, self.watch());
    }

    /// Payments left unprocessed after an error become due again.
    async fn process_due(&self) -> Result<(), sqlx::Error> {
        loop {
            let (now, deadline) = (self.clock.now(), self.deadline());
            let claim = async |db: &mut sqlx::PgConnection| {
                payments::claim(db, self.name, (now, now + self.claim), operating_date(now), CLAIM_LENGTH_MAX).await
            };
            // The claim is a write, so once it is confirmed, the transfers that it read are too.
            let claimed = async { within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await };
            let due = self.barrier.confirmed(claimed).await?;
            let is_last = (due.len() as i64) < CLAIM_LENGTH_MAX;
            let attempts = join_all(due.into_iter().map(|due| self.attempt(due, deadline))).await;
            attempts.into_iter().collect::<Result<(), _>>()?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// When the work of a claim that begins now is abandoned.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.claim.mul_f64(WORK_SHARE)
    }

    async fn attempt(&self, due: DuePayment, deadline: Instant) -> Result<(), sqlx::Error> {
        let DuePayment { payment, attempts, from_account_id, .. } = &due;
        let transfer_id = payment.transfer_id;
        let (status, may_be_sent) = timeout_at(deadline, self.ask(&due))
            .await
            .unwrap_or_else(|_| (Err(RailError::Unknown(anyhow!("the rail did not answer in time"))), true));
        self.metrics.rail_answers.of([answer_name(&status)]).inc();
        if due.is_new_date && !may_be_sent {
            let forget = async |db: &mut sqlx::PgConnection| payments::forget_date(db, transfer_id).await;
            within(self.db.acquire().await?, REPLY_TIME_MAX, forget).await?;
        }
        let error = match status {
            Ok(status) => {
                if self.book(transfer_id, *from_account_id, &status).await == Some(true) {
                    return Ok(());
                }
                None
            }
            Err(RailError::Undecided(error)) => {
                let error = format!("{error:#}");
                tracing::error!(error, tracking_key = payment.tracking_key, "a person has to decide on a payment");
                let now = self.clock.now();
                let park = async |db: &mut sqlx::PgConnection| payments::park(db, transfer_id, now, &error).await;
                return within(self.db.acquire().await?, REPLY_TIME_MAX, park).await;
            }
            Err(error) => {
                let text = format!("{:#}", anyhow::Error::new(error));
                tracing::warn!(error = text, tracking_key = payment.tracking_key, "rail request failed; will retry");
                Some(text)
            }
        };
        let due_at = self.clock.now() + retry_after(*attempts);
        let postpone =
            async |db: &mut sqlx::PgConnection| payments::postpone(db, transfer_id, due_at, error.as_deref()).await;
        within(self.db.acquire().await?, REPLY_TIME_MAX, postpone).await
    }

    /// The payment's status, and whether the rail may have received it by now.
    async fn ask(&self, due: &DuePayment) -> (Result<PaymentStatus, RailError>, bool) {
        match self.find(due).await {
            Ok(Some(status)) => (Ok(status), true),
            Ok(None) => {
                let sent = self.rail.send(&due.payment).await;
                let may_be_sent = !matches!(sent, Err(RailError::Unreachable(_)));
                (sent, may_be_sent)
            }
            Err(error) => (Err(error), !due.is_new_date),
        }
    }

    /// Asks about a payment that the rail may have. `None` if it does not, whichever day it was sent for: that is known
    /// unless a backup was restored that is older than the attempt.
    async fn find(
        &self,
        DuePayment { payment, attempts, .. }: &DuePayment,
    ) -> Result<Option<PaymentStatus>, RailError> {
        let now = self.clock.now();
        if !may_be_known(*attempts, now - payment.created_at) {
            return Ok(None);
        }
        let others = possible_dates(payment.created_at, now);
        if others.len() > DATES_MAX {
            return Err(RailError::Undecided(anyhow!("it is too old to be sent, and may have been sent")));
        }
        let others = others.into_iter().filter(|date| *date != payment.operating_date);
        for date in std::iter::once(payment.operating_date).chain(others) {
            let payment = Payment { operating_date: date, ..payment.clone() };
            if let Some(status) = self.rail.find(&payment).await? {
                return Ok(Some(status));
            }
        }
        Ok(None)
    }

    /// Reports a notification of a rail in this process to the ledger. False if that failed: the rail must send it
    /// again.
    async fn accept(&self, Notification { tracking_key, status }: &Notification) -> bool {
        match self.noticed(tracking_key).await {
            Ok(Some(noticed)) => self.book(noticed.transfer_id, noticed.account_id, status).await != Some(false),
            Ok(None) => true,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot look up a payment");
                false
            }
        }
    }

    /// `None` if this rail carries no such payment.
    pub(super) async fn noticed(&self, tracking_key: &str) -> Result<Option<Noticed>, sqlx::Error> {
        let find = async |db: &mut sqlx::PgConnection| payments::find(db, self.name, tracking_key).await;
        let noticed = within(self.db.acquire().await?, REPLY_TIME_MAX, find).await?;
        if noticed.is_none() {
            // Anybody can cause these, so there is no line for each at the usual level.
            tracing::debug!("a notice about a payment that this rail does not carry");
        }
        Ok(noticed)
    }

    /// Reports a final status to the ledger, and tells whether the ledger processed it. `None` if the status is not
    /// final.
    pub(super) async fn book(
        &self,
        transfer_id: uuid::Uuid,
        account_id: uuid::Uuid,
        status: &PaymentStatus,
    ) -> Option<bool> {
        let (report, reason) = report_of(status)?;
        let (return_id, payee_account_id, by_hand) = (self.clock.new_id(), None, None);
        let report = PaymentReport { transfer_id, account_id, payee_account_id, report, reason, return_id, by_hand };
        Some(self.report(report).await)
    }

    /// Whether the ledger processed the report.
    async fn report(&self, report: PaymentReport) -> bool {
        let transfer_id = report.transfer_id;
        for _ in 0..SUBMISSIONS_MAX {
            match self.ledger.submit(Command::Report(report.clone())).await {
                Ok(Outcome::StatusUnchanged(status)) => {
                    self.had_no_effect(&report, status);
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

    /// A duplicate is usual. A payment that was paid out although its sender has the money again, or the reverse, is a
    /// loss that only a person can recover.
    fn had_no_effect(&self, PaymentReport { transfer_id, report, .. }: &PaymentReport, status: Status) {
        let contradiction = |report| self.metrics.rail_contradictions.of([report]).inc();
        match (status, report) {
            (Status::Failed, Report::Settled) => {
                contradiction("settled");
                tracing::error!(%transfer_id, "the rail settled a payment that has failed: its money left twice");
            }
            (Status::Completed, Report::Rejected) => {
                contradiction("rejected");
                tracing::error!(%transfer_id, "the rail refused a payment that has settled: its money went nowhere");
            }
            _ => tracing::info!(%transfer_id, %status, ?report, "the rail's report had no effect"),
        };
    }
}

/// Of an attempt, in metrics.
fn answer_name(answer: &Result<PaymentStatus, RailError>) -> &'static str {
    match answer {
        Ok(PaymentStatus::Accepted) => "accepted",
        Ok(PaymentStatus::Settled) => "settled",
        Ok(PaymentStatus::Rejected(_)) => "rejected",
        Ok(PaymentStatus::Returned(_)) => "returned",
        Err(RailError::Unreachable(_)) => "unreachable",
        Err(RailError::Unknown(_)) => "unknown",
        Err(RailError::Undecided(_)) => "undecided",
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

/// Whether the rail may have the payment already. Attempts are counted before they are made, so at the first one it
/// cannot, unless a backup was restored that is older than the attempt: then the payment is no longer fresh.
fn may_be_known(attempts: i32, age: time::Duration) -> bool {
    attempts > 0 || age > FRESH_MAX
}

/// The operating dates for which a payment can have been sent between two instants, one more than [`DATES_MAX`] at
/// most.
fn possible_dates(from: time::OffsetDateTime, to: time::OffsetDateTime) -> Vec<Date> {
    let mut dates = Vec::new();
    let mut day = operating_date(from);
    let last = operating_date(to);
    while day <= last && dates.len() <= DATES_MAX {
        if is_business_day(day) {
            dates.push(day);
        }
        let Some(next) = day.next_day() else { break };
        day = next;
    }
    dates
}

pub(super) fn retry_after(attempts: i32) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(0).min(20);
    RETRY_AFTER_MIN.saturating_mul(1 << doublings).min(RETRY_AFTER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::{date, datetime};

    #[test]
    fn a_rail_is_asked_before_it_gets_a_payment_that_it_may_have() {
        let (fresh, restored) = (time::Duration::seconds(1), time::Duration::minutes(5));
        assert!(!may_be_known(0, fresh));
        assert!(may_be_known(1, fresh) && may_be_known(0, restored));
    }

    #[test]
    fn the_possible_dates_are_the_business_days_between() {
        let friday = datetime!(2026-11-20 12:00 -6);
        assert_eq!(possible_dates(friday, friday), [date!(2026 - 11 - 20)]);
        let monday = datetime!(2026-11-23 18:00 -6);
        assert_eq!(
            possible_dates(friday, monday),
            [date!(2026 - 11 - 20), date!(2026 - 11 - 23), date!(2026 - 11 - 24)]
        );
        assert_eq!(possible_dates(friday, friday + time::Duration::days(60)).len(), DATES_MAX + 1);
    }
}
