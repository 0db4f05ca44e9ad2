//! What a proof of the audit records found.

use super::Heads;
use super::things::Thing;
use crate::sealing::ChainKey;

/// A longer list would not help.
const COMPLAINTS_MAX: usize = 100;

#[derive(Debug, Default)]
pub struct RecordProof {
    /// How many records there are.
    pub records: i64,
    /// How many of them were only followed link by link, because the retired key that sealed them was not given.
    pub unproven: i64,
    /// What is wrong, at most `COMPLAINTS_MAX`.
    pub complaints: Vec<String>,
    /// The last record of each chain that has any.
    pub(crate) heads: Heads,
}

impl RecordProof {
    pub(crate) fn add(&mut self, complaint: String) {
        if self.complaints.len() < COMPLAINTS_MAX {
            self.complaints.push(complaint);
        }
    }

    /// Compares a row with its last record.
    pub(super) fn compare(&mut self, thing: &Thing, key: &ChainKey) {
        if let Some(what) = thing.flaw(key) {
            self.add(format!("{} {}: {what}", thing.subject.as_str(), thing.key));
        }
    }
}
