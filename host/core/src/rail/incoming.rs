//! Orders of other banks. A notice only makes the courier ask the rail, which anybody may cause; what the rail confirms is
//! given to the ledger, whose key for the order makes it count once.

use anyhow::anyhow;
use sqlx::PgConnection;
use tokio::time::timeout;

use super::calendar::operating_date;
use super::courier::{Courier, REPLY_TIME_MAX, WORKERS, retry_after};
use super::{Incoming, IncomingOrder, IncomingStatus, OrderKey, OrderNotice, RailError};
use crate::clock::CLOCK_SKEW_MAX;
use crate::db::payments::notices::{self, DueNotice};
use crate::db::session::within;
use crate::ledger::{Command, Outcome, Receive};

/// Oldest operating date of a notice, before the current one. More than the longest run of days off; older orders are
/// found in the lists of their days.
const NOTICE_DAYS_MAX: i64 = 10;

/// How long the rail is asked about an order that it does not have: a notice follows its order, so this one was forged.
const UNKNOWN_TIME_MAX: time::Duration = time::Duration::minutes(10);

/// How long the rail is asked about an order that it says nothing certain about. After that it is found in the list of its
/// day.
const UNCLEAR_TIME_MAX: time::Duration = time::Duration::days(1);

impl Courier {
    /// Makes an inquiry about an order due, durably.
    ///
    /// # Errors
    /// When the database fails: the rail must send the notice again.
    pub async fn notice_incoming(&self, key: &OrderKey) -> Result<OrderNotice, sqlx::Error> {
        let now = self.clock.now();
        let dates = operating_date(now).saturating_sub(time::Duration::days(NOTICE_DAYS_MAX))
            ..=operating_date(now + 2 * CLOCK_SKEW_MAX);
        if !key.is_valid() || !dates.contains(&key.operating_date) {
            return Ok(OrderNotice::Refused);
        }
        let keep = async |db: &mut PgConnection| notices::keep(db, self.name, key, self.clock.fixed_at()).await;
        let kept = async { within(self.db.acquire().await?, REPLY_TIME_MAX, keep).await };
        Ok(if self.barrier.confirmed(kept).await? { OrderNotice::Kept } else { OrderNotice::Full })
    }

    pub(super) async fn receive_due(&self) -> Result<(), sqlx::Error> {
        let work = |due| {
            let courier = self.clone();
            async move {
                if let Err(error) = courier.ask_about(&due).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot look up an incoming order");
                }
            }
        };
        WORKERS.work_off(|limit| self.claim_notices(limit), work).await
    }

    async fn claim_notices(&self, limit: i64) -> Result<Vec<DueNotice>, sqlx::Error> {
        let claim = async |db: &mut PgConnection| {
            notices::claim(db, self.name, (self.clock.fixed_at(), self.claim), limit).await
        };
        self.barrier.confirmed(async { within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await }).await
    }

    async fn ask_about(&self, due: &DueNotice) -> Result<(), sqlx::Error> {
        let answer = timeout(self.work_time(), self.rail.find_incoming(&due.key)).await;
        let answer = answer.unwrap_or_else(|_| Err(RailError::Unknown(anyhow!("the rail did not answer in time"))));
        let tracking_key = &due.key.tracking_key;
        let is_done = match answer {
            Ok(Some(Incoming { order, status: IncomingStatus::Received })) => self.receive(order).await,
            // It came and went.
            Ok(Some(Incoming { status: IncomingStatus::Returned(_), .. })) => true,
            Ok(None) => due.age > UNKNOWN_TIME_MAX,
            Err(error) => {
                let is_given_up = due.age > UNCLEAR_TIME_MAX;
                let error = format!("{:#}", anyhow::Error::new(error));
                if is_given_up {
                    tracing::error!(error, tracking_key, "an incoming order is unclear: nobody was credited");
                } else {
                    tracing::warn!(error, tracking_key, "cannot look up an incoming order; will retry");
                }
                is_given_up
            }
        };
        let pause = (!is_done).then(|| retry_after(due.attempts));
        let end = async |db: &mut PgConnection| notices::end(db, self.name, due, (self.clock.fixed_at(), pause)).await;
        within(self.db.acquire().await?, REPLY_TIME_MAX, end).await
    }

    /// Credits an order that the rail has, or sets it aside to be sent back. Whether the ledger has it now.
    pub async fn receive(&self, order: IncomingOrder) -> bool {
        let transfer_id = order.transfer_id();
        let Some(order) = order.checked() else {
            tracing::error!(%transfer_id, "an incoming order is not valid");
            return false;
        };
        match self.submit(&Command::Receive(Receive { rail: self.name, order })).await {
            Some(Outcome::Received { is_same, .. }) => {
                if !is_same {
                    self.metrics.rail_contradictions.of(["changed"]).inc();
                    tracing::error!(%transfer_id, "an incoming order changed after it was entered: the first one counts");
                }
                true
            }
            Some(outcome) => {
                tracing::error!(%transfer_id, ?outcome, "an incoming order cannot be entered; will retry");
                false
            }
            None => false,
        }
    }
}
