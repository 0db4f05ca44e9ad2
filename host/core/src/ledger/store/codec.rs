//! Stored hashes.

use crate::ledger::rows::Digests;
use crate::sealing::digest::Hash;

pub(super) fn hash_from_bytes(bytes: Vec<u8>) -> Result<Hash, sqlx::Error> {
    bytes.try_into().map_err(|_| sqlx::Error::Decode("a stored hash has the wrong length".into()))
}

/// Of another length they match nothing.
pub(super) fn digests_from_bytes(bytes: &[u8]) -> Digests {
    bytes.as_chunks().0.try_into().unwrap_or_default()
}
