//! A payment for a rail, as a row.

use time::OffsetDateTime;

use super::PaymentRow;
use crate::db::payments::seals;
use crate::domain::transfer::{PayeeAccount, Payment};
use crate::ledger::batch::NewTransfer;
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// Why a payment is parked that is under review. It has another seal than one that may be sent.
const REVIEW: &str = "a person decides first: `caudal reviews`";

impl PaymentRow {
    /// Of a new transfer that a rail carries, or of an incoming order to send back.
    pub(in crate::ledger) fn of(key: &ChainKey, new: &NewTransfer, due_at: OffsetDateTime) -> Option<Self> {
        let (rail, transfer) = (new.rail?.as_str(), new.transfer.clone());
        let row = |seal: Hash| Self {
            transfer_id: new.transfer.transfer_id,
            rail: rail.to_owned(),
            owner: new.owner.clone(),
            turn: new.turn,
            attempts: 0,
            last_error: new.reviewed.then(|| REVIEW.to_owned()),
            parked_at: new.reviewed.then_some(due_at),
            due_at,
            seal: seal.to_vec(),
        };
        if let Some(order) = &new.order {
            return Some(row(seals::of_return(key, rail, order, new.reason?.as_str())));
        }
        let PayeeAccount { number: payee_number, bank: payee_bank } = new.transfer.payee.clone()?;
        let payment = Payment {
            transfer_id: transfer.transfer_id,
            tracking_key: transfer.spei_reference?,
            amount: transfer.amount,
            created_at: transfer.created_at,
            // The seal leaves these two out.
            operating_date: due_at.date(),
            sender_name: None,
            sender_number: new.sender_number.clone(),
            payee_name: transfer.beneficiary_name?,
            payee_number,
            payee_bank,
            remittance: transfer.remittance,
        };
        Some(row(seals::of(key, rail, (&new.owner, transfer.from_account_id), &payment, new.reviewed)))
    }
}
