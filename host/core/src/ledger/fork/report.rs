//! What a fork found. The same history and the same candidates give the same report, to the byte.

use serde::Serialize;
use time::OffsetDateTime;
use uuid::Uuid;

use super::books::Books;
use super::course::Course;
use super::difference::Difference;
use super::tally::{Segment, Sum, Tally};
use crate::clock::timestamp;
use crate::domain::risk::Level;

/// Amounts are in centavos.
#[derive(Debug, Serialize)]
pub struct Report {
    pub from: Option<String>,
    pub until: Option<String>,
    /// The candidates; without them, the fork is null.
    pub rules: Option<Candidate>,
    pub risk: Option<Candidate>,
    /// Everything that was executed.
    pub executed: Executed,
    /// What was executed from `from` on.
    pub counted: Executed,
    /// Batches whose hashes nobody checked, because the retired key that sealed them was not given.
    pub unproven: u64,
    /// Whether every batch that should be as recorded is so. If not, only the first difference is reported.
    pub is_proven: bool,
    pub first_difference: Option<Difference>,
    /// Commands that took another course.
    changes: Vec<Change>,
    /// Orders that were carried out as if their senders had acknowledged a risk that they were never asked about.
    pub would_have_been_asked: Sum,
    risk_levels: Vec<Leveled>,
    /// Orders of which no decision on their risk was kept.
    pub unscored: u64,
    /// All orders.
    money: Vec<Ordered>,
    pub balances: Balances,
    /// The last batch of each chain.
    heads: Vec<Head>,
}

#[derive(Debug, Serialize)]
pub struct Candidate {
    pub version: String,
    pub sha256: String,
}

#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct Executed {
    pub batches: u64,
    pub commands: u64,
}

#[derive(Debug, Serialize)]
struct Change {
    command: &'static str,
    recorded: Course,
    forked: Course,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Debug, Serialize)]
struct Leveled {
    recorded: &'static str,
    forked: &'static str,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Debug, Serialize)]
struct Ordered {
    #[serde(flatten)]
    segment: Segment,
    order: &'static str,
    recorded: Course,
    forked: Course,
    #[serde(flatten)]
    sum: Sum,
}

/// What customers' accounts have at the end, beside what they have on record.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Balances {
    pub accounts: u64,
    pub differ: u64,
    /// By how much those that have more have more.
    pub higher: i64,
    pub lower: i64,
}

#[derive(Debug, Serialize)]
struct Head {
    chain_id: Uuid,
    seq: i64,
    hash: String,
}

impl Report {
    pub(super) fn new(
        (from, until): (Option<OffsetDateTime>, Option<OffsetDateTime>),
        tally: Tally,
        books: &Books,
        unproven: u64,
    ) -> Self {
        let mut balances = Balances::default();
        for (account_id, posted) in books.posted() {
            let more = posted.minor().saturating_sub(tally.posted(account_id));
            balances.accounts += 1;
            balances.differ += u64::from(more != 0);
            balances.higher = balances.higher.saturating_add(more.max(0));
            balances.lower = balances.lower.saturating_sub(more.min(0));
        }
        let changes = tally.changes.into_iter();
        let levels = tally.levels.into_iter();
        let money = tally.money.into_iter();
        let level = |level: Level| level.as_str();
        Self {
            from: from.map(timestamp),
            until: until.map(timestamp),
            rules: None,
            risk: None,
            executed: Executed { batches: tally.batches, commands: tally.commands },
            counted: Executed { batches: tally.counted_batches, commands: tally.counted_commands },
            unproven,
            is_proven: true,
            first_difference: tally.first,
            changes: changes
                .map(|((command, recorded, forked), sum)| Change { command, recorded, forked, sum })
                .collect(),
            would_have_been_asked: tally.asked,
            risk_levels: levels
                .map(|((old, new), sum)| Leveled { recorded: level(old), forked: level(new), sum })
                .collect(),
            unscored: tally.unscored,
            money: money
                .map(|((segment, order, recorded, forked), sum)| Ordered { segment, order, recorded, forked, sum })
                .collect(),
            balances,
            heads: tally
                .heads
                .into_iter()
                .map(|(chain_id, (seq, hash))| Head { chain_id, seq, hash: hex::encode(hash) })
                .collect(),
        }
    }

    /// Of a history that is not as recorded: nothing that was counted on the way means anything.
    pub(super) fn unequal(
        period: (Option<OffsetDateTime>, Option<OffsetDateTime>),
        executed: Executed,
        first: Difference,
    ) -> Self {
        let report = Self::new(period, Tally::default(), &Books::default(), 0);
        Self { executed, is_proven: false, first_difference: Some(first), ..report }
    }
}
