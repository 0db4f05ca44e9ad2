//! Seals of payments: keyed hashes, made when they are entered, that a courier compares before it asks or sends.

use uuid::Uuid;

use crate::domain::incoming::IncomingOrder;
use crate::domain::transfer::Payment;
use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

/// Of what an order to a rail says, apart from its operating date, which is chosen later, and the name of the holder,
/// which a record covers. One under review has a seal of its own, with which it is not sent.
pub(crate) fn of(
    key: &ChainKey,
    rail: &str,
    (owner, from_account_id): (&str, Uuid),
    payment: &Payment,
    is_under_review: bool,
) -> Hash {
    let Payment {
        transfer_id,
        tracking_key,
        amount,
        created_at,
        operating_date: _,
        sender_number,
        sender_name: _,
        payee_name,
        payee_number,
        payee_bank,
        remittance,
    } = payment;
    let is_for: &[u8] = if is_under_review { b"caudal payment under review 1" } else { b"caudal rail payment 1" };
    let mut digest = Digest::new(is_for);
    digest.uuid(*transfer_id);
    digest.uuid(from_account_id);
    [rail, owner, tracking_key, payee_name, payee_number, payee_bank].iter().for_each(|text| digest.text(text));
    digest.int(amount.minor());
    digest.time(*created_at);
    digest.optional_text(sender_number.as_deref());
    digest.optional_text(remittance.concept.as_deref());
    digest.optional_int(remittance.reference.map(i64::from));
    key.seal_digest(digest)
}

/// Of what is sent back, and why.
pub(crate) fn of_return(key: &ChainKey, rail: &str, order: &IncomingOrder, reason: &str) -> Hash {
    let mut digest = Digest::new(b"caudal rail return 1");
    digest.uuid(order.transfer_id());
    [rail, &order.payee_number, reason].iter().for_each(|text| digest.text(text));
    digest.int(order.amount.minor());
    key.seal_digest(digest)
}
