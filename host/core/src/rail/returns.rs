//! Sends incoming orders back that no account could be credited with.

use anyhow::anyhow;
use sqlx::PgConnection;
use tokio::time::timeout;

use super::courier::{ALTERED, Courier, REPLY_TIME_MAX, WORKERS, answer_name, retry_after};
use super::{Incoming, IncomingStatus, PaymentStatus, RailError};
use crate::db::payments;
use crate::db::payments::returns::{self, DueReturn};
use crate::db::session::within;
use crate::domain::bank_account::SPEI_ACCOUNT;

impl Courier {
    pub(super) async fn return_due(&self) -> Result<(), sqlx::Error> {
        let work = |due| {
            let courier = self.clone();
            async move {
                if let Err(error) = courier.attempt_return(&due).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot process a due return");
                }
            }
        };
        WORKERS.work_off(|limit| self.claim_returns(limit), work).await
    }

    async fn claim_returns(&self, limit: i64) -> Result<Vec<DueReturn>, sqlx::Error> {
        let claim = async |db: &mut PgConnection| {
            returns::claim(db, (self.name, &self.key), (self.clock.fixed_at(), self.claim), limit).await
        };
        // The claim is a write, so once it is confirmed, the orders that it read are too.
        self.barrier.confirmed(async { within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await }).await
    }

    async fn attempt_return(&self, due: &DueReturn) -> Result<(), sqlx::Error> {
        let transfer_id = due.transfer_id;
        let status = timeout(self.work_time(), self.send_back(due)).await;
        let status = status.unwrap_or_else(|_| Err(RailError::Unknown(anyhow!("the rail did not answer in time"))));
        self.metrics.rail_answers.of([answer_name(&status)]).inc();
        let error = match status {
            Ok(status) => {
                if self.book(transfer_id, SPEI_ACCOUNT, &status).await == Some(true) {
                    return Ok(());
                }
                None
            }
            Err(RailError::Undecided(error)) => {
                let error = format!("{error:#}");
                tracing::error!(error, %transfer_id, "a person has to decide on an incoming order");
                let now = self.clock.fixed_at();
                let park = async |db: &mut PgConnection| payments::park(db, transfer_id, now, &error).await;
                return within(self.db.acquire().await?, REPLY_TIME_MAX, park).await;
            }
            Err(error) => {
                let text = format!("{:#}", anyhow::Error::new(error));
                tracing::warn!(error = text, %transfer_id, "cannot send an incoming order back; will retry");
                Some(text)
            }
        };
        let (now, pause) = (self.clock.fixed_at(), retry_after(due.attempts));
        let postpone = async |db: &mut PgConnection| {
            payments::postpone(db, (transfer_id, due.attempts), (now, pause), error.as_deref()).await
        };
        within(self.db.acquire().await?, REPLY_TIME_MAX, postpone).await
    }

    /// A return is idempotent at the rail, so two hosts may send one at a time.
    async fn send_back(&self, due: &DueReturn) -> Result<PaymentStatus, RailError> {
        let undecided = |why: &'static str| Err(RailError::Undecided(anyhow!(why)));
        let Some(order) = &due.order else { return undecided(ALTERED) };
        match self.rail.find_incoming(&order.key()).await? {
            None => undecided("the rail does not have the order that is to be sent back"),
            Some(Incoming { order: found, .. }) if !found.moves_the_same_as(order) => {
                undecided("the rail has the order with another amount or account")
            }
            Some(Incoming { status: IncomingStatus::Returned(reason), .. }) => {
                Ok(PaymentStatus::Returned(reason.or_else(|| Some(due.reason.clone()))))
            }
            Some(_) => self.rail.return_order(order, &due.reason).await,
        }
    }
}
