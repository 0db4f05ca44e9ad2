//! Differences between the ledger and a rail about the orders of an operating day.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Differences listed in a report, and acted on. One that has more counts the rest; the next one lists them.
pub const DIFFERENCES_MAX: usize = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Sent,
    Received,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The rail has the order, the ledger does not.
    MissingHere,
    /// The ledger has it, the rail does not.
    MissingThere,
    /// Amount, account or status differ.
    Different,
    /// The rail has it more than once.
    Duplicated,
}

/// What follows from a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// No money is missing on either side.
    None,
    /// The rail is asked about the order, and its answer is booked.
    Inquiry,
    /// A person decides.
    Decision,
}

/// An order as one side has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// In pesos.
    pub amount: String,
    pub payee_number: String,
    pub status: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    pub direction: Direction,
    pub finding: Finding,
    pub remedy: Remedy,
    pub tracking_key: String,
    /// SPEI's code of the institution that sent it, if it was received.
    pub institution: Option<u32>,
    /// Of the ledger's transfer.
    pub transaction_id: Option<Uuid>,
    pub here: Option<Side>,
    pub there: Option<Side>,
    /// As the rail has them; likewise below.
    pub sender_number: Option<String>,
    pub payee_name: Option<String>,
}

/// How many orders of a day are alike on both sides, and how many are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub matched: i64,
    pub missing_here: i64,
    pub missing_there: i64,
    pub different: i64,
    pub duplicated: i64,
}

impl Counts {
    pub fn add(&mut self, finding: Finding) {
        *match finding {
            Finding::MissingHere => &mut self.missing_here,
            Finding::MissingThere => &mut self.missing_there,
            Finding::Different => &mut self.different,
            Finding::Duplicated => &mut self.duplicated,
        } += 1;
    }
}
