//! The result of a verification.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::ledger::chain::digest::Hash;

/// Chain and sequence number of a batch.
pub(super) type Place = (Uuid, i64);

/// A fault in the chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Break {
    pub chain_id: Uuid,
    pub seq: i64,
    /// What is wrong with the batch.
    pub what: &'static str,
}

/// The last batch of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seq: i64,
    /// `None` for a batch older than the hash chain.
    pub hash: Option<Hash>,
}

#[derive(Debug, Default)]
pub struct Proof {
    /// Ordered, at most `BREAKS_MAX`.
    pub breaks: Vec<Break>,
    pub heads: BTreeMap<Uuid, Head>,
    /// Batches older than the hash chain, which cannot be verified.
    pub unchained: i64,
}

/// Most breaks reported; more would add no information.
const BREAKS_MAX: usize = 100;

impl Proof {
    pub(super) fn add(&mut self, (chain_id, seq): Place, what: &'static str) {
        if self.breaks.len() < BREAKS_MAX {
            self.breaks.push(Break { chain_id, seq, what });
        }
    }
}

/// A recorded head that is missing or has another hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    pub chain_id: Uuid,
    pub seq: i64,
}
