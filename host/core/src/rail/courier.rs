//! Hands pending payments to their rail and the rail's reports to the ledger, until each payment has a final status.
//!
//! The queue is the table `rail_payment`, written in the commit that moves the money, so it survives restarts. Users
//! take turns. A payment is sent once; every later attempt first asks the rail, and sends again only if the rail never
//! received it. What a person has to decide is parked.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use sqlx::PgPool;
use time::Date;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::calendar::{operating_date, operating_dates};
use super::{Notification, OrderNotice, Payment, PaymentStatus, Rail, RailError};
use crate::clock::{CLOCK_SKEW_MAX, Clock};
use crate::db::barrier::Barrier;
use crate::db::payments::inquiries::{self, Noticed};
use crate::db::payments::{self, DuePayment};
use crate::db::session::{checked_time, within};
use crate::domain::transfer::{RailName, Reason, Report, Status};
use crate::ledger::{Command, Ledger, LedgerError, Outcome, PaymentReport};
use crate::metrics::Metrics;
use crate::sealing::ChainKey;
use crate::workers::Workers;

/// Requests to the rail at a time that are not slow, and in all.
pub(super) const WORKERS: Workers = Workers { places: 16, under_way_max: 64 };

/// Pause between two polls for due payments.
const POLL_EVERY: Duration = Duration::from_millis(250);

/// How long a claim lasts, by default. If the host crashes, another one then takes over.
pub const CLAIM: Duration = Duration::from_secs(60);

/// The part of a claim after which nothing is sent and its work is abandoned. By default the rest is 15 s, the longest
/// that a request takes.
const WORK_SHARE: f64 = 0.75;

/// Operating dates that a payment may have been sent for before a backup was restored. One that is older is parked.
const DATES_MAX: usize = 5;

/// Operating dates for which a rail is asked about a payment under review, the first ones: a month and a half.
const REVIEW_DATES_MAX: usize = 30;

/// Why a person decides on a payment that is not what the ledger entered.
pub(super) const ALTERED: &str = "somebody altered it, or its sender's name, in the database: run `caudal verify`";

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

/// Runs `work` again and again.
async fn repeat<W: Future<Output = Result<(), sqlx::Error>>>(of: &'static str, work: impl Fn() -> W) {
    let mut every = tokio::time::interval(POLL_EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        if let Err(error) = work().await {
            tracing::warn!(error = &error as &dyn std::error::Error, of, "cannot claim what is due");
        }
    }
}

#[derive(Clone)]
pub struct Courier {
    pub db: PgPool,
    pub barrier: Barrier,
    pub ledger: Ledger,
    pub rail: Arc<dyn Rail>,
    pub name: RailName,
    /// Proves that a payment is what the ledger entered.
    pub key: ChainKey,
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
                    tracing::warn!(?notification, "a notification from the rail was lost");
                }
            }
        };
        // Notices come after their payments settled, for most payments, and must not wait for those that do not.
        let payments = repeat("payments", || self.process_due());
        let inquiries = repeat("inquiries", || self.inquire_due());
        let orders = repeat("incoming orders", || self.receive_due());
        let returns = repeat("returns", || self.return_due());
        tokio::join!(receive, payments, inquiries, orders, returns, self.watch(), self.reconcile());
    }

    /// Payments left unprocessed after an error become due again.
    async fn process_due(&self) -> Result<(), sqlx::Error> {
        let work = |due| {
            let courier = self.clone();
            async move {
                if let Err(error) = courier.attempt(&due).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot process a due payment");
                }
            }
        };
        WORKERS.work_off(|limit| self.claim_due(limit), work).await
    }

    async fn claim_due(&self, limit: i64) -> Result<Vec<DuePayment>, sqlx::Error> {
        let claim = async |db: &mut sqlx::PgConnection| {
            let today = operating_date(checked_time(db, &self.clock).await?);
            payments::claim(db, (self.name, &self.key), (self.clock.fixed_at(), self.claim), today, limit).await
        };
        // The claim is a write, so once it is confirmed, the transfers that it read are too.
        self.barrier.confirmed(async { within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await }).await
    }

    /// How long the work of a claim goes on before it is abandoned.
    pub(super) fn work_time(&self) -> Duration {
        self.claim.mul_f64(WORK_SHARE)
    }

    async fn attempt(&self, due: &DuePayment) -> Result<(), sqlx::Error> {
        let DuePayment { payment, attempts, from_account_id, .. } = due;
        let transfer_id = payment.transfer_id;
        let status = match timeout(self.work_time(), self.ask(due)).await {
            Ok(status) => status?,
            Err(_) => Some(Err(RailError::Unknown(anyhow!("the rail did not answer in time")))),
        };
        // Without one it is another host's, or a person's.
        let Some(status) = status else { return Ok(()) };
        self.metrics.rail_answers.of([answer_name(&status)]).inc();
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
                let now = self.clock.fixed_at();
                let park = async |db: &mut sqlx::PgConnection| payments::park(db, transfer_id, now, &error).await;
                return within(self.db.acquire().await?, REPLY_TIME_MAX, park).await;
            }
            Err(error) => {
                let text = format!("{:#}", anyhow::Error::new(error));
                tracing::warn!(error = text, tracking_key = payment.tracking_key, "rail request failed; will retry");
                Some(text)
            }
        };
        let (now, pause) = (self.clock.fixed_at(), retry_after(*attempts));
        let postpone = async |db: &mut sqlx::PgConnection| {
            payments::postpone(db, (transfer_id, *attempts), (now, pause), error.as_deref()).await
        };
        within(self.db.acquire().await?, REPLY_TIME_MAX, postpone).await
    }

    /// Asks about a payment that the rail may have, and otherwise sends it. `None` if the claim is over.
    async fn ask(&self, due: &DuePayment) -> Result<Option<Result<PaymentStatus, RailError>>, sqlx::Error> {
        if !due.is_sealed {
            return Ok(Some(Err(RailError::Undecided(anyhow!(ALTERED)))));
        }
        match self.find(due).await {
            Ok(None) => {}
            Ok(Some((status, date))) => {
                // If the trace of its order was lost, it is left now: verification and later inquiries need it.
                let is_noted = due.was_sent || self.hand_over(due, Some(date)).await?.is_some();
                return Ok(is_noted.then_some(Ok(status)));
            }
            Err(error) => return Ok(Some(Err(error))),
        }
        // Of a host that was paused meanwhile, others may have taken over, or refunded the payment.
        let Some((operating_date, chosen)) = self.hand_over(due, None).await? else { return Ok(None) };
        // For another date it would be another payment.
        if operating_date != if due.was_sent { due.payment.operating_date } else { chosen } {
            return Ok(Some(Err(RailError::Undecided(anyhow!(ALTERED)))));
        }
        let payment = Payment { operating_date, ..due.payment.clone() };
        let sent = self.rail.send(&payment).await;
        if matches!(sent, Err(RailError::Unreachable(_))) && !due.was_sent {
            let forget = async |db: &mut sqlx::PgConnection| payments::forget_order(db, due).await;
            within(self.db.acquire().await?, REPLY_TIME_MAX, forget).await?;
        }
        if matches!(sent, Ok(PaymentStatus::Rejected(_))) && due.may_be_known() && !self.is_over(operating_date) {
            let error = anyhow!("the rail refused to take it again, and may have taken it before");
            return Ok(Some(Err(RailError::Undecided(error))));
        }
        Ok(Some(sent))
    }

    /// Notes that the rail gets a payment, for a date or else for the present one. Returns the date of its order and the
    /// one asked for; `None` if the claim is over.
    async fn hand_over(&self, due: &DuePayment, date: Option<Date>) -> Result<Option<(Date, Date)>, sqlx::Error> {
        let hand_over = async |db: &mut sqlx::PgConnection| {
            let now = checked_time(db, &self.clock).await?;
            let (date, left) = (date.unwrap_or_else(|| operating_date(now)), self.claim - self.work_time());
            let order = (self.name, date, self.review_at(date, now));
            let handed_over = payments::hand_over(db, due, order, (self.clock.fixed_at(), left)).await?;
            Ok(handed_over.map(|stored| (stored, date)))
        };
        let handed_over = async { within(self.db.acquire().await?, REPLY_TIME_MAX, hand_over).await };
        self.barrier.confirmed(handed_over).await
    }

    /// Asks about a payment that the rail may have, and for which day it was sent. `None` if the rail does not have it,
    /// on any day.
    async fn find(&self, due: &DuePayment) -> Result<Option<(PaymentStatus, Date)>, RailError> {
        let payment = &due.payment;
        let now = self.clock.now();
        let others = operating_dates(payment.created_at, now, DATES_MAX + 1);
        // On an earlier day it may have been sent without a trace here, if somebody removed that.
        if !due.may_be_known() && others.len() <= 1 {
            return Ok(None);
        }
        if payment.operating_date > operating_date(now + 2 * CLOCK_SKEW_MAX) {
            return Err(RailError::Undecided(anyhow!(ALTERED)));
        }
        if others.len() > DATES_MAX {
            return Err(RailError::Undecided(anyhow!("it is too old to be sent, and may have been sent")));
        }
        let others = others.into_iter().filter(|date| *date != payment.operating_date);
        for date in std::iter::once(payment.operating_date).chain(others) {
            let payment = Payment { operating_date: date, ..payment.clone() };
            if let Some(status) = self.rail.find(&payment).await? {
                return Ok(Some((status, date)));
            }
        }
        Ok(None)
    }

    /// Whether the rail has a payment that nobody released, as far as this database knows: it may have been restored to a
    /// time before.
    ///
    /// # Errors
    /// When the rail does not say.
    pub async fn has(&self, payment: &Payment) -> Result<bool, RailError> {
        for operating_date in operating_dates(payment.created_at, self.clock.now(), REVIEW_DATES_MAX) {
            let payment = Payment { operating_date, ..payment.clone() };
            if let Some(PaymentStatus::Accepted | PaymentStatus::Settled) = self.rail.find(&payment).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the rail takes nothing more for a day.
    fn is_over(&self, date: Date) -> bool {
        operating_date(self.clock.now()) > date
    }

    /// Reports a notification of a rail in this process to the ledger. False if that failed: the rail must send it
    /// again.
    async fn accept(&self, notification: &Notification) -> bool {
        let (tracking_key, status) = match notification {
            Notification::Payment { tracking_key, status } => (tracking_key, status),
            Notification::Incoming(key) => return matches!(self.notice_incoming(key).await, Ok(OrderNotice::Kept)),
        };
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
        let find = async |db: &mut sqlx::PgConnection| inquiries::find(db, self.name, tracking_key).await;
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
        match self.submit(&Command::Report(report.clone())).await {
            Some(Outcome::StatusUnchanged(status)) => {
                self.had_no_effect(&report, status);
                true
            }
            Some(Outcome::StatusChanged(_) | Outcome::Returned) => true,
            Some(outcome) => {
                tracing::error!(%transfer_id, ?outcome, "the rail's report cannot be booked");
                false
            }
            None => false,
        }
    }

    /// `None` if the ledger did not answer. What rails say is idempotent, so submitting it again is safe even if the
    /// outcome is unknown.
    pub(super) async fn submit(&self, command: &Command) -> Option<Outcome> {
        for _ in 0..SUBMISSIONS_MAX {
            match self.ledger.submit(command.clone()).await {
                Ok(outcome) => return Some(outcome),
                Err(LedgerError::Closed) => return None,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot book what the rail says; will retry"
                    );
                    tokio::time::sleep(SUBMIT_EVERY).await;
                }
            }
        }
        None
    }

    /// A duplicate is usual. A payment that was paid out although its sender has the money again, or the reverse, is a
    /// loss that only a person can recover.
    fn had_no_effect(&self, PaymentReport { transfer_id, report, .. }: &PaymentReport, status: Status) {
        let contradiction = |report| self.metrics.rail_contradictions.of([report]).inc();
        match (status, report) {
            (Status::Failed, Report::Settled) => {
                contradiction("settled");
                tracing::error!(%transfer_id, "double payout: the rail settled a payment that was already refunded");
            }
            (Status::Completed, Report::Rejected) => {
                contradiction("rejected");
                tracing::error!(%transfer_id, "the rail rejected a payment booked as settled: the payee is unpaid, the sender not refunded");
            }
            _ => tracing::info!(%transfer_id, %status, ?report, "the rail's report had no effect"),
        };
    }
}

/// Of an attempt, in metrics.
pub(super) fn answer_name(answer: &Result<PaymentStatus, RailError>) -> &'static str {
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

pub(super) fn retry_after(attempts: i32) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(0).min(20);
    RETRY_AFTER_MIN.saturating_mul(1 << doublings).min(RETRY_AFTER_MAX)
}
