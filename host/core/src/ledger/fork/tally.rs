//! Counts what a fork does, and what it does otherwise.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use time::Duration;
use uuid::Uuid;

use super::books::Books;
use super::course::{self, Course};
use super::difference::Difference;
use super::judged::Judged;
use super::plan::Recorded;
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::money::Money;
use crate::domain::risk::Level;
use crate::ledger::batch::Context;
use crate::ledger::command::{Command, Order};
use crate::ledger::tables::Tables as _;
use crate::sealing::digest::Hash;

/// How long a payee is new: most scams have their money sent within a day of saving the payee.
const NEW_PAYEE: Duration = Duration::hours(24);

/// Amounts in centavos from which a band begins, and their names in pesos.
const BANDS: [(i64, &str); 4] = [
    (10_000_000, "100000 and more"),
    (1_000_000, "10000 to 99999.99"),
    (100_000, "1000 to 9999.99"),
    (0, "below 1000"),
];

/// How many, and their amounts in centavos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Sum {
    pub count: u64,
    pub amount: i64,
}

impl Sum {
    fn add(&mut self, amount: Money) {
        self.count += 1;
        self.amount = self.amount.saturating_add(amount.minor());
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Segment {
    payee: &'static str,
    amounts: &'static str,
}

#[derive(Default)]
pub(super) struct Tally {
    pub(super) batches: u64,
    pub(super) commands: u64,
    pub(super) counted_batches: u64,
    pub(super) counted_commands: u64,
    pub(super) first: Option<Difference>,
    pub(super) changes: BTreeMap<(&'static str, Course, Course), Sum>,
    pub(super) asked: Sum,
    pub(super) levels: BTreeMap<(Level, Level), Sum>,
    pub(super) unscored: u64,
    pub(super) money: BTreeMap<(Segment, &'static str, Course, Course), Sum>,
    pub(super) heads: BTreeMap<Uuid, (i64, Hash)>,
    /// What each customer's account had on record after its last entry.
    posted: HashMap<Uuid, (i64, i64)>,
}

impl Tally {
    pub(super) fn add(
        &mut self,
        recorded: &Recorded,
        (commands, courses): (&[Command], &[(Course, Course)]),
        judged: &Judged<'_>,
        (books, context): (&Books, &Context),
        is_counted: bool,
    ) {
        let header = &recorded.seal.header;
        self.batches += 1;
        self.commands += commands.len() as u64;
        self.heads.insert(header.chain_id, (header.seq, recorded.seal.hash));
        for entry in recorded.seal.rows.entries.iter().filter(|entry| entry.stripe == CUSTOMER_STRIPE) {
            let (version, posted) = self.posted.entry(entry.account_id).or_default();
            if entry.version > *version {
                (*version, *posted) = (entry.version, entry.balance_after);
            }
        }
        if !is_counted {
            return;
        }
        self.counted_batches += 1;
        self.counted_commands += commands.len() as u64;
        for (command, (before, after)) in commands.iter().zip(courses) {
            let (kind, amount) = (course::kind(command), course::amount(command));
            if before != after {
                self.changes.entry((kind, before.clone(), after.clone())).or_default().add(amount);
            }
            let Some(order) = command.order() else { continue };
            let place = (segment(order, books, context), kind, before.clone(), after.clone());
            self.money.entry(place).or_default().add(amount);
            if judged.is_asked(order) {
                self.asked.add(amount);
            }
        }
        if self.first.is_none() {
            self.first = course::first_change(commands, courses).map(|what| Difference::new(recorded, what));
        }
    }

    pub(super) fn leveled(&mut self, before: Level, after: Level, amount: Money) {
        self.levels.entry((before, after)).or_default().add(amount);
    }

    /// What an account has on record.
    pub(super) fn posted(&self, account_id: Uuid) -> i64 {
        self.posted.get(&account_id).map_or(0, |(_, posted)| *posted)
    }
}

fn segment(order: &Order, books: &Books, context: &Context) -> Segment {
    let age = books.payee(order.to_beneficiary_id).map(|payee| context.now - payee.created_at);
    let band = BANDS.iter().find(|(from, _)| order.amount.minor() >= *from);
    Segment {
        payee: if age.is_some_and(|age| age < NEW_PAYEE) { "new" } else { "known" },
        amounts: band.map_or("", |(_, name)| name),
    }
}
