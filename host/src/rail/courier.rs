//! Brings pending payments to their rail and its news to the ledger, until each has its end.
//!
//! What is to be done stands in `rail_payment`, written together with the money, so a restart goes on where the
//! last host stopped. A payment is handed over once; after that the rail is asked what became of it, and only one
//! that it never heard of is handed over again.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sqlx::PgPool;
use tokio::sync::mpsc;

use super::{News, Payment, Push, Rail, RailError};
use crate::clock::Clock;
use crate::db::payments::{self, Due};
use crate::db::session::within;
use crate::domain::transfer::{RailName, Reason, Report};
use crate::ledger::{Command, Ledger, LedgerError, Outcome, PaymentReport};

/// Payments that are taken on at a time.
const TAKEN_TOGETHER: i64 = 32;

/// How many of them are with the rail at the same moment.
const CALLS_MAX: usize = 8;

/// Pause between two looks for payments that are due.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long a payment is this host's once it took it on: longer than a call to a rail takes. If the host dies,
/// another one takes it after that.
const CLAIM: Duration = Duration::from_secs(60);

/// Wait before a payment is looked after again; it doubles each time, up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(2);
const WAIT_MAX: Duration = Duration::from_secs(20 * 60);

/// Longest wait for the database's reply.
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// News that may wait to be taken in.
pub const PUSHES_MAX: usize = 1024;

/// How often news are offered to a ledger that has more to do than it can take. After that the payment's next turn
/// asks the rail anew; a return that gets lost so is in the log.
const OFFERS_MAX: u32 = 5;

/// Pause between two offers.
const OFFER_AGAIN: Duration = Duration::from_millis(500);

/// What a courier works with.
#[derive(Clone)]
pub struct Courier {
    /// Connections.
    pub db: PgPool,
    /// Where news go.
    pub ledger: Ledger,
    /// Where payments go.
    pub rail: Arc<dyn Rail>,
    /// What that rail is called.
    pub name: RailName,
    /// The time.
    pub clock: Clock,
}

impl Courier {
    /// Works until it is aborted, which may be at any moment.
    pub async fn run(self, mut pushes: mpsc::Receiver<Push>) {
        let take_in = async {
            while let Some(push) = pushes.recv().await {
                if !self.take_in(&push).await {
                    tracing::warn!(tracking_key = push.tracking_key, news = ?push.news, "the rail's news are lost");
                }
            }
        };
        let look = async {
            let mut every = tokio::time::interval(LOOK_EVERY);
            every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                every.tick().await;
                if let Err(error) = self.work().await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot look after payments");
                }
            }
        };
        tokio::join!(take_in, look);
    }

    /// Looks after all payments that are due.
    ///
    /// # Errors
    /// When the database fails. What was not done is due again.
    pub async fn work(&self) -> Result<(), sqlx::Error> {
        loop {
            let now = self.clock.now();
            let claim = async |db: &mut sqlx::PgConnection| {
                payments::claim(db, self.name, now, now + CLAIM, TAKEN_TOGETHER).await
            };
            let due = within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await?;
            let all = (due.len() as i64) < TAKEN_TOGETHER;
            let mut calls = stream::iter(due).map(|due| self.look_after(due)).buffer_unordered(CALLS_MAX);
            while let Some(done) = calls.next().await {
                done?;
            }
            if all {
                return Ok(());
            }
        }
    }

    async fn look_after(&self, Due { payment, attempts, from_account_id }: Due) -> Result<(), sqlx::Error> {
        let news = match self.ask(&payment, attempts).await {
            Ok(news) => news,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, tracking_key = payment.tracking_key, "the rail said nothing");
                News::Taken
            }
        };
        let reported = match report_of(&news) {
            Some((report, reason)) => {
                self.tell(PaymentReport {
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
        if reported {
            return Ok(());
        }
        let again = self.clock.now() + wait(attempts);
        let later = async |db: &mut sqlx::PgConnection| payments::postpone(db, payment.transfer_id, again).await;
        within(self.db.acquire().await?, REPLY_TIME_MAX, later).await
    }

    async fn ask(&self, payment: &Payment, attempts: i32) -> Result<News, RailError> {
        // The first time nobody can have handed it over, unless a host died before it could say so: an attempt
        // is counted before it is made.
        if attempts > 0
            && let Some(news) = self.rail.find(payment).await?
        {
            return Ok(news);
        }
        self.rail.send(payment).await
    }

    /// Takes in what a rail told by itself. False when it cannot be kept: the rail has to tell it again.
    pub async fn take_in(&self, Push { tracking_key, news }: &Push) -> bool {
        let Some((report, reason)) = report_of(news) else { return true };
        let find = async |db: &mut sqlx::PgConnection| payments::find(db, tracking_key).await;
        let found = match self.db.acquire().await {
            Ok(db) => within(db, REPLY_TIME_MAX, find).await,
            Err(error) => Err(error),
        };
        let (transfer_id, account_id) = match found {
            Ok(Some(found)) => found,
            Ok(None) => {
                tracing::warn!(tracking_key, "the rail tells of a payment that is not ours");
                return true;
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot look for a payment");
                return false;
            }
        };
        let return_id = self.clock.new_id();
        self.tell(PaymentReport { transfer_id, account_id, report, reason, return_id }).await
    }

    /// Tells the ledger; whether it took it in.
    async fn tell(&self, report: PaymentReport) -> bool {
        for _ in 0..OFFERS_MAX {
            match self.ledger.submit(Command::Report(report.clone())).await {
                Ok(Outcome::Unmoved(status)) => {
                    tracing::info!(transfer_id = %report.transfer_id, %status, "the rail's news change nothing");
                    return true;
                }
                Ok(Outcome::Moved(_) | Outcome::Returned) => return true,
                Ok(other) => {
                    tracing::error!(transfer_id = %report.transfer_id, outcome = ?other, "the rail's news cannot be booked");
                    return false;
                }
                Err(LedgerError::Closed) => return false,
                // It is safe to say the same again.
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the ledger does not take news");
                    tokio::time::sleep(OFFER_AGAIN).await;
                }
            }
        }
        false
    }
}

fn report_of(news: &News) -> Option<(Report, Option<Reason>)> {
    let parse = |reason: &Option<String>| reason.as_deref().and_then(Reason::parse);
    match news {
        News::Taken => None,
        News::Settled => Some((Report::Settled, None)),
        News::Rejected(reason) => Some((Report::Rejected, parse(reason))),
        News::Returned(reason) => Some((Report::Returned, parse(reason))),
    }
}

/// How long to wait after so many attempts.
fn wait(attempts: i32) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(0).min(20);
    FIRST_WAIT.saturating_mul(1 << doublings).min(WAIT_MAX)
}
