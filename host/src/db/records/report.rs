//! What a proof of the audit records found.

use std::collections::BTreeSet;

use super::{Covered, LastRecord, Recorded, Subject};

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
    pub(crate) last: Option<LastRecord>,
    /// Subject and key of what ought to be there, according to the records of a part, and was not visited yet.
    pub(super) missing: BTreeSet<(String, String)>,
}

impl RecordProof {
    pub(crate) fn add(&mut self, complaint: String) {
        if self.complaints.len() < COMPLAINTS_MAX {
            self.complaints.push(complaint);
        }
    }

    /// Compares a row with its last record.
    pub(crate) fn compare(&mut self, subject: Subject, row: &Covered) {
        self.found(subject, &row.key);
        let what = match &row.recorded {
            Recorded::Never => "was added without a record",
            Recorded::Gone => "exists although its deletion is recorded",
            Recorded::State(state) if state[..] != row.state[..] => "was altered",
            Recorded::State(_) => return,
        };
        self.add(format!("{} {}: {what}", subject.as_str(), row.key));
    }

    /// Notes that a row is there.
    pub(crate) fn found(&mut self, subject: Subject, key: &str) {
        if !self.missing.is_empty() {
            self.missing.remove(&(subject.as_str().to_owned(), key.to_owned()));
        }
    }

    /// Complains about what was not visited.
    pub(crate) fn report_missing(&mut self) {
        for (subject, key) in std::mem::take(&mut self.missing) {
            self.add(format!("{subject} {key}: it is gone"));
        }
    }
}
