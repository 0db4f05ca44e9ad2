//! Fingerprints of transfer requests, which tell a retry from another request.

use sha2::{Digest as _, Sha256};

use super::command::Order;

/// SHA-256 of the typed fields, so that notation (`1e2`, `100.00`) makes no difference.
pub(super) fn fingerprint(order: &Order) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"caudal transfer 1");
    hash.update(order.from_account_id.as_bytes());
    hash.update(order.to_beneficiary_id.as_bytes());
    hash.update(order.amount.minor().to_be_bytes());
    hash.finalize().into()
}
