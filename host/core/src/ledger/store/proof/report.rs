//! The result of a verification.

use uuid::Uuid;

use super::watch::Watch;
use crate::db::audit::Finding;
use crate::db::records::report::RecordProof;
pub use crate::db::records::{Head, Heads};
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

#[derive(Debug, Default)]
pub struct Proof {
    /// Ordered, at most `BREAKS_MAX`.
    pub breaks: Vec<Break>,
    /// Also of the audit records.
    pub heads: Heads,
    pub records: RecordProof,
    /// What operators accepted as lost.
    pub losses: Vec<Loss>,
    /// Retired keys, the oldest first.
    pub retired: Vec<RetiredKey>,
    /// Batches that were only followed link by link, because the retired key that sealed them was not given.
    pub unproven: i64,
    /// What SQL says.
    pub findings: Vec<Finding>,
    pub checked: Checked,
    pub(super) watch: Watch,
}

/// How much was verified, and how much before it was trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// Customers' accounts.
    pub accounts: i64,
    pub batches: i64,
    pub transfers: i64,
    pub entries: i64,
    pub batches_before: i64,
    pub records_before: i64,
}

/// Most breaks reported; more would add no information.
pub(super) const BREAKS_MAX: usize = 100;

impl Proof {
    /// Whether nothing wrong was found.
    pub fn is_sound(&self) -> bool {
        self.breaks.is_empty() && self.records.complaints.is_empty() && self.findings.iter().all(|it| it.broken == 0)
    }

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
