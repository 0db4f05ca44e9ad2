//! Stored hashes.

use crate::ledger::rows::Digests;
use crate::sealing::digest::Hash;

pub(super) fn hash_from_bytes(bytes: Vec<u8>) -> Result<Hash, sqlx::Error> {
    bytes.try_into().map_err(|_| sqlx::Error::Decode("a stored hash has the wrong length".into()))
}

pub(super) fn digests_from_bytes(bytes: &[u8]) -> Result<Digests, sqlx::Error> {
    let digests = bytes.as_chunks().0.try_into();
    digests.map_err(|_| sqlx::Error::Decode("stored digests have the wrong length".into()))
}
