//! What a proof of the audit records found.

use super::{Covered, LastRecord, Recorded, Subject};

/// A longer list would not help.
const COMPLAINTS_MAX: usize = 100;

#[derive(Debug, Default)]
pub struct RecordProof {
    /// How many records there are.
    pub records: i64,
    /// What is wrong, at most `COMPLAINTS_MAX`.
    pub complaints: Vec<String>,
    pub(crate) last: Option<LastRecord>,
}

impl RecordProof {
    pub(crate) fn add(&mut self, complaint: String) {
        if self.complaints.len() < COMPLAINTS_MAX {
            self.complaints.push(complaint);
        }
    }

    /// Compares a row with its last record.
    pub(crate) fn compare(&mut self, subject: Subject, row: &Covered) {
        let what = match &row.recorded {
            Recorded::Never => "was added without a record",
            Recorded::Gone => "exists although its deletion is recorded",
            Recorded::State(state) if state[..] != row.state[..] => "was altered",
            Recorded::State(_) => return,
        };
        self.add(format!("{} {}: {what}", subject.as_str(), row.key));
    }
}
