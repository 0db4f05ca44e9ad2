//! The result of a verification.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::watch::Watch;
use crate::db::records::report::RecordProof;
use crate::db::records::{Covered, Subject};
use crate::ledger::store::adoption::Adoption;
use crate::ledger::store::losses::Loss;
use crate::ledger::store::retired::RetiredKey;
use crate::sealing::digest::{Digest, Hash};

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
    /// Also of the audit records, under [`RECORDS`](super::RECORDS).
    pub heads: BTreeMap<Uuid, Head>,
    pub records: RecordProof,
    /// What was trusted without proof when the first host with the key came.
    pub adoption: Option<Adoption>,
    /// What operators accepted as lost.
    pub losses: Vec<Loss>,
    /// Retired keys, the oldest first.
    pub retired: Vec<RetiredKey>,
    /// Batches that were only followed link by link, because the retired key that sealed them was not given.
    pub unproven: i64,
    pub(super) unhashed: Unhashed,
    pub(super) watch: Watch,
}

/// Most breaks reported; more would add no information.
const BREAKS_MAX: usize = 100;

impl Proof {
    pub(super) fn add(&mut self, (chain_id, seq): Place, what: &'static str) {
        if self.breaks.len() < BREAKS_MAX {
            self.breaks.push(Break { chain_id, seq, what });
        }
    }

    /// Compares the retired keys with their records.
    pub(super) fn add_retired(&mut self, keys: Vec<(RetiredKey, Covered)>) {
        keys.iter().for_each(|(_, row)| self.records.compare(Subject::Key, row));
        self.retired = keys.into_iter().map(|(key, _)| key).collect();
    }
}

/// Digests of the batches without a hash, of their rows, and of accounts that no batch opened.
#[derive(Debug)]
pub(in crate::ledger::store) struct Unhashed {
    batches: BTreeMap<Uuid, i64>,
    tables: BTreeMap<(Uuid, &'static [u8]), Digest>,
    pub(in crate::ledger::store) accounts: (i64, Hash),
}

impl Default for Unhashed {
    fn default() -> Self {
        Self { batches: BTreeMap::new(), tables: BTreeMap::new(), accounts: (0, Digest::new(b"account").finish()) }
    }
}

impl Unhashed {
    pub(super) fn count(&mut self, chain_id: Uuid) {
        *self.batches.entry(chain_id).or_default() += 1;
    }

    /// What the next row of this batch and table is to be added to.
    pub(super) fn table(&mut self, (chain_id, seq): Place, table: &'static [u8]) -> &mut Digest {
        let digest = self.tables.entry((chain_id, table)).or_insert_with(|| Digest::new(table));
        digest.int(seq);
        digest
    }

    /// How many batches of a chain have no hash, and a digest of them and their rows.
    pub(in crate::ledger::store) fn chain(&self, chain_id: Uuid) -> (i64, Hash) {
        let mut all = Digest::new(b"caudal adopted chain 1");
        for ((_, table), digest) in self.tables.iter().filter(|((of, _), _)| *of == chain_id) {
            all.bytes(table);
            all.bytes(&digest.clone().finish());
        }
        (self.batches.get(&chain_id).copied().unwrap_or_default(), all.finish())
    }
}

/// A recorded head that is missing or has another hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    pub chain_id: Uuid,
    pub seq: i64,
    /// As it was recorded.
    pub hash: Option<Hash>,
}
