//! A model of Postgres: the ledger's tables as plain maps. A test compares it with the real one.
//!
//! Constraints have the same names; a dropped one is not checked, so that mutations can try its absence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use caudal::domain::account_number::normalise;
use caudal::domain::clabe::Clabe;
use caudal::domain::hold::OwnedHold;
use caudal::domain::incoming::IncomingOrder;
use caudal::domain::money::Money;
use caudal::domain::transfer::{Kind, RailName, Status};
use caudal::ledger;
use caudal::ledger::batch::{
    AccountEvent, AccountFacts, Answer, Balance, BalanceKey, Batch, HoldEnd, Made, NewEntry, NewTransfer, Payee,
    ReportedTransfer, UserFacts,
};
use caudal::ledger::chain::Seal;
use caudal::ledger::store::{CommitError, Fate};
use caudal::ledger::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use time::OffsetDateTime;
use uuid::Uuid;

const BANK_FLOOR: Money = Money::from_minor(-i64::MAX);

/// A transfer with its status history.
#[derive(Debug, Clone)]
pub(crate) struct StoredTransfer {
    pub(crate) new: NewTransfer,
    /// Each with whether an operator gave it.
    pub(crate) statuses: Vec<(Status, bool)>,
    /// Of the last batch that gave it a status.
    pub(crate) moment: i64,
}

impl StoredTransfer {
    pub(crate) fn status(&self) -> Status {
        self.statuses.last().unwrap().0
    }

    pub(crate) fn is_under_review(&self) -> bool {
        self.new.reviewed && self.statuses.len() == 1
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    pub(crate) stripe: i16,
    pub(crate) holder: Uuid,
    pub(crate) until: OffsetDateTime,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Tables {
    pub(crate) accounts: BTreeMap<Uuid, AccountFacts>,
    pub(crate) issued: BTreeMap<Clabe, Uuid>,
    pub(crate) balances: BTreeMap<BalanceKey, Balance>,
    pub(crate) users: BTreeMap<String, UserFacts>,
    pub(crate) payees: BTreeMap<Uuid, Payee>,
    pub(crate) transfers: BTreeMap<Uuid, StoredTransfer>,
    pub(crate) entries: BTreeMap<(BalanceKey, i64), NewEntry>,
    pub(crate) answers: BTreeMap<(String, String), Answer>,
    pub(crate) batches: BTreeMap<(Uuid, i64), Seal>,
    pub(crate) payments: BTreeSet<Uuid>,
    pub(crate) holds: BTreeMap<Uuid, OwnedHold>,
    pub(crate) hold_ends: BTreeMap<Uuid, HoldEnd>,
    pub(crate) account_events: BTreeMap<(Uuid, i16), AccountEvent>,
    pub(crate) writers: BTreeMap<Uuid, Lease>,
    pub(crate) dropped: BTreeSet<&'static str>,
    /// Batches that took money from a frozen account.
    pub(crate) debits_while_frozen: usize,
}

impl Tables {
    /// Adds a stripe of the bank's own accounts.
    pub(crate) fn add_stripe(&mut self, stripe: i16) {
        let own = [(FUNDING_ACCOUNT, "FUNDING"), (SPEI_ACCOUNT, "SPEI"), (IN_TRANSIT_ACCOUNT, "IN-TRANSIT")];
        for (account, number) in own {
            self.accounts.entry(account).or_insert(AccountFacts {
                owner: None,
                number: number.to_owned(),
                is_issued: false,
            });
            self.balances.entry((account, stripe)).or_insert(Balance::empty(BANK_FLOOR));
        }
    }
}

pub(crate) enum Refusal {
    /// A constraint that fails if another writer was first.
    Race,
    /// Another writer took the sequence number.
    Chain,
    /// A constraint that no race violates.
    Constraint(&'static str),
}

impl From<Refusal> for CommitError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Race => Self::LostRace,
            Refusal::Chain => Self::LostChain,
            Refusal::Constraint(name) => Self::Refused(sqlx::Error::Protocol(name.to_owned())),
        }
    }
}

/// Shared by all hosts.
#[derive(Clone, Default)]
pub(crate) struct Model(Arc<Mutex<Tables>>);

impl Model {
    pub(crate) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap()
    }

    pub(crate) fn commit(&self, batch: &Batch, seal: &Seal) -> Result<(), Refusal> {
        let mut tables = self.tables();
        // Atomic.
        let mut after = tables.clone();
        write(&mut after, batch, seal)?;
        *tables = after;
        Ok(())
    }

    pub(crate) fn settle(&self, batch_id: Uuid, tombstone: &Seal) -> Fate {
        let place = (tombstone.header.chain_id, tombstone.header.seq);
        let found = self.tables().batches.entry(place).or_insert_with(|| tombstone.clone()).header.batch_id;
        match found {
            found if found == batch_id => Fate::Committed,
            found if found == tombstone.header.batch_id => Fate::Never,
            _ => Fate::LostChain,
        }
    }
}

impl ledger::tables::Tables for Tables {
    fn account(&self, account_id: Uuid) -> Option<&AccountFacts> {
        self.accounts.get(&account_id)
    }

    fn accounts_of<'a>(&'a self, owner: &'a str) -> impl Iterator<Item = (Uuid, &'a AccountFacts)> {
        let own = self.accounts.iter().filter(move |(_, facts)| facts.owner.as_deref() == Some(owner));
        own.map(|(id, facts)| (*id, facts))
    }

    fn issued(&self, number: Clabe) -> Option<Uuid> {
        self.issued.get(&number).copied()
    }

    fn balance(&self, key: BalanceKey) -> Option<Balance> {
        self.balances.get(&key).copied()
    }

    fn payee(&self, beneficiary_id: Uuid) -> Option<&Payee> {
        self.payees.get(&beneficiary_id)
    }

    fn user(&self, owner: &str) -> UserFacts {
        self.users.get(owner).copied().unwrap_or_default()
    }

    fn pending(&self, owner: &str) -> usize {
        let is_own = |id: &&Uuid| self.transfers.get(*id).is_some_and(|stored| stored.new.owner == owner);
        self.payments.iter().filter(is_own).count()
    }

    fn answer(&self, owner: &str, key: &str) -> Option<Answer> {
        let mut answer = self.answers.get(&(owner.to_owned(), key.to_owned()))?.clone();
        // The present status, not the one that was answered.
        match &mut answer.outcome {
            Ok(Made::Transfer(transfer)) => transfer.status = self.transfers[&transfer.transfer_id].status(),
            Ok(Made::Hold(hold)) => hold.status = self.holds[&hold.hold_id].hold.status,
            Err(_) => {}
        }
        Some(answer)
    }

    fn transfer(&self, transfer_id: Uuid) -> Option<ReportedTransfer> {
        let stored = self.transfers.get(&transfer_id).filter(|it| it.new.rail.is_some())?;
        Some(ReportedTransfer {
            kind: stored.new.kind,
            owner: stored.new.owner.clone(),
            account_id: stored.new.transfer.from_account_id,
            payee_account_id: (stored.new.rail == Some(RailName::OnUs)).then_some(stored.new.credit_account_id),
            amount: stored.new.transfer.amount,
            status: stored.status(),
            statuses: i16::try_from(stored.statuses.len()).unwrap(),
            under_review: stored.new.rail.filter(|_| stored.is_under_review()),
            returned: self.transfers.values().any(|other| other.new.returns == Some(transfer_id)),
            created_at: stored.new.transfer.created_at,
            moment: stored.moment,
        })
    }

    fn is_used(&self, id: Uuid) -> bool {
        self.transfers.contains_key(&id) || self.holds.contains_key(&id)
    }

    fn received(&self, transfer_id: Uuid) -> Option<IncomingOrder> {
        self.transfers.get(&transfer_id)?.new.order.clone()
    }

    fn is_tracked(&self, tracking_key: &str) -> bool {
        let mut made = self.transfers.values().filter(|it| it.new.kind == Kind::Spei);
        made.any(|it| it.new.transfer.spei_reference.as_deref() == Some(tracking_key))
    }

    fn hold(&self, hold_id: Uuid) -> Option<&OwnedHold> {
        self.holds.get(&hold_id)
    }

    fn freezes(&self, account_id: Uuid) -> i16 {
        let events = self.account_events.range((account_id, i16::MIN)..=(account_id, i16::MAX)).count();
        i16::try_from(events).unwrap()
    }
}

pub(crate) fn write(tables: &mut Tables, batch: &Batch, seal: &Seal) -> Result<(), Refusal> {
    let dropped = tables.dropped.clone();
    let holds = |name: &'static str, good: bool, refusal: Refusal| {
        if good || dropped.contains(name) { Ok(()) } else { Err(refusal) }
    };
    for open in &batch.accounts {
        let taken = tables.accounts.values().any(|facts| {
            facts.owner.as_ref() == Some(&open.owner) && normalise(&facts.number) == normalise(&open.account_number)
        });
        holds("account_owner_number", !taken, Refusal::Race)?;
        if let Some(issued) = open.issued {
            let earlier = tables.issued.insert(issued, open.account_id);
            holds("account_issued", earlier.is_none(), Refusal::Race)?;
        }
        let facts = AccountFacts {
            owner: Some(open.owner.clone()),
            number: open.account_number.clone(),
            is_issued: open.issued.is_some(),
        };
        tables.accounts.insert(open.account_id, facts);
        tables.balances.insert((open.account_id, CUSTOMER_STRIPE), Balance::empty(Money::ZERO));
        tables.users.entry(open.owner.clone()).or_default();
    }

    let (mut written, mut explained) = (0, 0);
    for (key, change) in &batch.balances {
        // The number of entries alone does not tell of holds and freezes.
        let relied_on = |balance: &Balance| {
            if dropped.contains("race_moment") { balance.version } else { balance.moment }
        };
        let is_unchanged = |balance: &&mut Balance| relied_on(balance) == relied_on(&change.before);
        let Some(balance) = tables.balances.get_mut(key).filter(is_unchanged) else { continue };
        let moved = change.after.posted.minor() - balance.posted.minor();
        let held = change.after.held.minor() - balance.held.minor();
        let turned = change.after.frozen != balance.frozen;
        let entries = batch.entries.iter().filter(|entry| entry.balance == *key).map(|entry| entry.delta.minor());
        let (account, stripe) = *key;
        let placed = batch.holds.iter().filter(|it| it.hold.account_id == account).map(|it| it.hold.amount.minor());
        let ended = batch.hold_ends.values().filter(|end| end.account_id == account).map(|end| end.amount.minor());
        let turns = batch.account_events.iter().filter(|event| event.account_id == account).count();
        let is_held = stripe == CUSTOMER_STRIPE && held == placed.sum::<i64>() - ended.sum::<i64>() || held == 0;
        let no_overdraft = change.after.posted.minor() - change.after.held.minor() >= balance.floor.minor();
        holds("account_balance_held", change.after.held >= Money::ZERO, Refusal::Constraint("account_balance_held"))?;
        holds("no_overdraft", no_overdraft, Refusal::Constraint("no_overdraft"))?;
        let leaves = batch.entries.iter().any(|entry| entry.balance == *key && entry.delta < Money::ZERO);
        if balance.frozen && turns == 0 && leaves {
            tables.debits_while_frozen += 1;
        }
        explained += usize::from(moved == entries.sum::<i64>() && is_held && turned == (turns % 2 == 1));
        written += 1;
        *balance = Balance { floor: balance.floor, ..change.after };
    }
    let mut users = 0;
    for (owner, expected) in &batch.users {
        if let Some(user) = tables.users.get_mut(owner).filter(|user| user.version == *expected) {
            user.version += 1;
            users += 1;
        }
    }
    let mut debited = 0;
    for new in &batch.transfers {
        let id = new.transfer.transfer_id;
        let is_new = !tables.transfers.contains_key(&id);
        holds("transfer_pkey", is_new, Refusal::Race)?;
        let once = new.returns.is_none() || !tables.transfers.values().any(|other| other.new.returns == new.returns);
        holds("transfer_returns", once, Refusal::Race)?;
        debited += usize::from(batch.entries.iter().any(|entry| {
            let amount = -new.transfer.amount.minor();
            (entry.transfer_id, entry.balance.0, entry.delta.minor()) == (id, new.transfer.from_account_id, amount)
        }));
        if new.transfer.status == Status::Pending {
            tables.payments.insert(id);
        }
        let statuses = vec![(new.transfer.status, false)];
        tables.transfers.insert(id, StoredTransfer { new: new.clone(), statuses, moment: seal.header.moment });
    }
    let mut moves = 0;
    for (id, step) in &batch.moves {
        let Some(stored) = tables.transfers.get_mut(id) else { continue };
        let is_next = stored.statuses.len() == usize::try_from(step.ordinal).unwrap();
        holds("transfer_event_pkey", is_next, Refusal::Race)?;
        if stored.status() == Status::Pending {
            stored.statuses.push((step.status, step.by_hand.is_some()));
            stored.moment = stored.moment.max(seal.header.moment);
            moves += 1;
        }
        if step.status != Status::Pending {
            tables.payments.remove(id);
        }
    }
    for entry in &batch.entries {
        let earlier = tables.entries.insert((entry.balance, entry.version), entry.clone());
        holds("entry_pkey", earlier.is_none(), Refusal::Race)?;
    }
    for new in &batch.holds {
        let earlier = tables.holds.insert(new.hold.hold_id, new.clone());
        holds("hold_pkey", earlier.is_none(), Refusal::Race)?;
    }
    for (id, end) in &batch.hold_ends {
        let earlier = tables.hold_ends.insert(*id, end.clone());
        holds("hold_end_pkey", earlier.is_none(), Refusal::Race)?;
        if let Some(owned) = tables.holds.get_mut(id) {
            owned.hold.status = end.status;
        }
    }
    for event in &batch.account_events {
        let earlier = tables.account_events.insert((event.account_id, event.ordinal), event.clone());
        holds("account_event_pkey", earlier.is_none(), Refusal::Race)?;
    }
    for (key, answer) in &batch.answers {
        let earlier = tables.answers.insert(key.clone(), answer.clone());
        holds("idempotency_pkey", earlier.is_none(), Refusal::Race)?;
    }

    let total = |sign: i64| batch.entries.iter().map(|entry| (sign * entry.delta.minor()).max(0)).sum::<i64>();
    let place = (seal.header.chain_id, seal.header.seq);
    // Postgres checks CHECK constraints in the order of their names.
    holds("batch_balanced", total(1) == total(-1), Refusal::Constraint("batch_balanced"))?;
    holds("batch_debited", debited == batch.transfers.len(), Refusal::Constraint("batch_debited"))?;
    holds("batch_explained", explained == written, Refusal::Constraint("batch_explained"))?;
    holds("batch_race_balances", written == batch.balances.len(), Refusal::Race)?;
    holds("batch_race_moves", moves == batch.moves.len(), Refusal::Race)?;
    holds("batch_race_users", users == batch.users.len(), Refusal::Race)?;
    holds("ledger_batch_pkey", !tables.batches.contains_key(&place), Refusal::Chain)?;
    tables.batches.insert(place, seal.clone());
    Ok(())
}
