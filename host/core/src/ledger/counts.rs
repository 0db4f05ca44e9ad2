//! What becomes of commands, as metrics.

use super::command::{Outcome, Refusal};
use super::job::LedgerError;
use crate::domain::rules::{CODES, Violation};
use crate::domain::transfer::Status;
use crate::metrics::Metrics;

/// Why commands have no outcome. Shown before they happen, so that an alert sees the first.
const CAUSES: [&str; 8] =
    ["closed", "database", "decision-not-recorded", "full", "overloaded", "panicked", "refused", "unknown"];

/// What a transfer can become, without the refused ones.
const FATES: [&str; 6] = ["completed", "failed", "pending", "replayed", "returned", "settled"];

impl Metrics {
    pub(super) fn expect_answers(&self) {
        CAUSES.iter().for_each(|cause| drop(self.ledger_failures.of([cause])));
        FATES.iter().for_each(|fate| drop(self.transfers.of([fate, ""])));
    }

    /// Counts an answer.
    pub(super) fn answered(&self, answer: &Result<Outcome, LedgerError>) {
        let transfer = |outcome, reason| self.transfers.of([outcome, reason]).inc();
        let refused = |reason| transfer("refused", reason);
        let hold = |outcome| self.holds.of([outcome]).inc();
        match answer {
            Err(error) => self.ledger_failures.of([cause(error)]).inc(),
            Ok(Outcome::Sent { replayed: true, .. } | Outcome::Rejected { replayed: true, .. }) => {
                transfer("replayed", "")
            }
            Ok(Outcome::Sent { transfer: sent, .. }) => transfer(sent.status.as_str(), ""),
            Ok(Outcome::Rejected { violations, .. }) => refused(code(violations)),
            Ok(Outcome::StatusChanged(Status::Completed)) => transfer("settled", ""),
            Ok(Outcome::StatusChanged(Status::Failed)) => transfer("failed", ""),
            Ok(Outcome::Returned) => transfer("returned", ""),
            Ok(Outcome::Received { is_new: true, .. }) => transfer("received", ""),
            Ok(Outcome::Refused(refusal)) => match refusal {
                Refusal::RulesUnavailable => transfer("undecided", "rules"),
                Refusal::RiskUnavailable => transfer("undecided", "risk"),
                Refusal::TooManyRefusals => transfer("undecided", "refusals"),
                Refusal::TooManyPending => transfer("undecided", "pending"),
                Refusal::HoldNotFound | Refusal::HoldEnded(_) | Refusal::HoldExceeded(_) => hold("refused"),
                Refusal::AccountExists => 0,
                refusal => refused(refusal.code()),
            },
            Ok(Outcome::Held { replayed, .. }) => hold(if *replayed { "replayed" } else { "held" }),
            Ok(Outcome::Released(_)) => hold("released"),
            Ok(
                Outcome::Opened(_)
                | Outcome::NumberTaken
                | Outcome::Funded(_)
                | Outcome::Recovered(_)
                | Outcome::IdTaken
                | Outcome::HoldNotDue
                | Outcome::Frozen { .. }
                // Released to its rail.
                | Outcome::StatusChanged(Status::Pending)
                | Outcome::StatusUnchanged(_)
                | Outcome::Received { .. }
                | Outcome::TransferNotFound,
            ) => 0,
        };
    }
}

fn cause(error: &LedgerError) -> &'static str {
    match error {
        LedgerError::Closed => "closed",
        LedgerError::Database(_) => "database",
        LedgerError::Full => "full",
        LedgerError::Overloaded => "overloaded",
        LedgerError::Panicked => "panicked",
        LedgerError::Refused(_) => "refused",
        LedgerError::Unknown => "unknown",
    }
}

/// The most serious violation.
fn code(violations: &[Violation]) -> &'static str {
    let first = violations.first().map(|violation| violation.code.as_str());
    CODES.into_iter().find(|code| Some(*code) == first).unwrap_or("unknown")
}
