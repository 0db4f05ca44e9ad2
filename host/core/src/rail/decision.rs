//! A person decides on a payment that its rail left pending.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::courier::CLAIM;
use crate::clock::Clock;
use crate::db::payments;
use crate::domain::transfer::Report;
use crate::ledger::{ByHand, PaymentReport};

/// What an operator says became of a payment, and why.
pub struct Decision {
    pub transfer_id: Uuid,
    /// Settled or rejected.
    pub report: Report,
    pub by_hand: ByHand,
}

/// What follows from a decision.
pub enum Verdict {
    Report(PaymentReport),
    /// A host may be sending the payment. It was stopped; from this moment on, it can be decided on.
    NotBefore(OffsetDateTime),
    /// No rail carried such a transfer.
    NotFound,
}

/// Refunding a payment that a host is sending would pay it twice, so it is stopped first, for as long as a claim lasts.
///
/// The caller has obtained a second person's approval, where one is required.
pub async fn judge(
    db: &mut PgConnection,
    decision: Decision,
    clock: &Clock,
    return_id: Uuid,
) -> Result<Verdict, sqlx::Error> {
    let Decision { transfer_id, report, by_hand } = decision;
    let Some(account_id) = payments::account_of(db, transfer_id).await? else { return Ok(Verdict::NotFound) };
    if let Some((until, true)) = payments::stop(db, transfer_id, clock.fixed_at(), CLAIM).await? {
        return Ok(Verdict::NotBefore(until));
    }
    let by_hand = Some(by_hand);
    let (reason, payee_account_id) = (None, None);
    Ok(Verdict::Report(PaymentReport { transfer_id, account_id, payee_account_id, report, reason, return_id, by_hand }))
}
