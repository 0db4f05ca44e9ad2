//! The result of a verification.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::watch::Watch;
use crate::db::records::report::RecordProof;
use crate::ledger::store::losses::Loss;
use crate::ledger::store::retired::RetiredKey;
use crate::sealing::digest::Hash;

/// Chain and sequence number of a batch.
pub(super) type Place = (Uuid, i64);

/// A fault in the chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Break {
    pub chain_id: Uuid,
    pub seq: i64,
    /// What is wrong with the batch.
    pub what: String,
}

/// The last batch of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seq: i64,
    pub hash: Hash,
}

#[derive(Debug, Default)]
pub struct Proof {
    /// Ordered, at most `BREAKS_MAX`.
    pub breaks: Vec<Break>,
    /// Also of the audit records, under [`RECORDS`](super::RECORDS).
    pub heads: BTreeMap<Uuid, Head>,
    pub records: RecordProof,
    /// What operators accepted as lost.
    pub losses: Vec<Loss>,
    /// Retired keys, the oldest first.
    pub retired: Vec<RetiredKey>,
    /// Batches that were only followed link by link, because the retired key that sealed them was not given.
    pub unproven: i64,
    pub(super) watch: Watch,
}

/// Most breaks reported; more would add no information.
const BREAKS_MAX: usize = 100;

impl Proof {
    pub(super) fn add(&mut self, (chain_id, seq): Place, what: impl Into<String>) {
        if self.breaks.len() < BREAKS_MAX {
            self.breaks.push(Break { chain_id, seq, what: what.into() });
        }
    }
}

/// A recorded head that is missing or has another hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    pub chain_id: Uuid,
    pub seq: i64,
    /// As it was recorded.
    pub hash: Hash,
}
