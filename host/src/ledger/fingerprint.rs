//! Fingerprints of requests with an idempotency key, which tell a retry from another request.
//!
//! SHA-256 of the typed fields, so that notation (`1e2`, `100.00`) makes no difference.

use sha2::{Digest as _, Sha256};

use super::command::{Order, PlaceHold};

pub(super) fn of_transfer(order: &Order) -> [u8; 32] {
    let mut hash = start(b"caudal transfer 1", order);
    if let Some(hold_id) = order.hold_id {
        hash.update(hold_id.as_bytes());
    }
    hash.finalize().into()
}

pub(super) fn of_hold(place: &PlaceHold) -> [u8; 32] {
    let mut hash = start(b"caudal hold 1", &place.order);
    hash.update(place.lifetime.whole_seconds().to_be_bytes());
    hash.finalize().into()
}

fn start(domain: &[u8], order: &Order) -> Sha256 {
    let mut hash = Sha256::new();
    hash.update(domain);
    hash.update(order.from_account_id.as_bytes());
    hash.update(order.to_beneficiary_id.as_bytes());
    hash.update(order.amount.minor().to_be_bytes());
    hash
}
