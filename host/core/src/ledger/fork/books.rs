//! The ledger in memory: of what batches wrote, only what later decisions read.

use std::collections::{BTreeMap, HashMap};

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::clabe::Clabe;
use crate::domain::hold::OwnedHold;
use crate::domain::incoming::IncomingOrder;
use crate::domain::money::Money;
use crate::domain::transfer::{Kind, RailName, Status};
use crate::ledger::batch::{
    AccountFacts, Answer, Balance, BalanceKey, Batch, Payee, Read, ReportedTransfer, UserFacts,
};
use crate::ledger::command::{Command, Order};
use crate::ledger::tables::Tables;
use crate::ledger::tracking::is_recovered;

/// The floor of the bank's own accounts.
const BANK_FLOOR: Money = Money::from_minor(-i64::MAX);

#[derive(Default)]
pub(super) struct Books {
    accounts: HashMap<Uuid, AccountFacts>,
    by_owner: HashMap<String, Vec<Uuid>>,
    issued: BTreeMap<Clabe, Uuid>,
    balances: HashMap<BalanceKey, Balance>,
    transfers: HashMap<Uuid, Open>,
    holds: HashMap<Uuid, OwnedHold>,
    freezes: HashMap<Uuid, i16>,
    /// Of lost payments whose retry has not come.
    recovered: BTreeMap<(String, String), Answer>,
    /// What the present batch read of what belongs to users.
    payees: BTreeMap<Uuid, Payee>,
    users: BTreeMap<String, UserFacts>,
}

/// A transfer on which its rail may report: its owner is that of the account.
#[derive(Clone, Copy)]
struct Open {
    kind: Kind,
    status: Status,
    account_id: Uuid,
    payee_account_id: Option<Uuid>,
    amount: Money,
    statuses: i16,
    under_review: Option<RailName>,
    created_at: OffsetDateTime,
    moment: i64,
}

impl Books {
    /// Begins a batch of a writer whose orders rest on what they `read` of users.
    pub(super) fn begin(&mut self, stripe: i16, commands: &[Command], read: &[Option<Read>]) {
        for account_id in [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT] {
            let facts = || AccountFacts { owner: None, number: String::new(), is_issued: false };
            self.accounts.entry(account_id).or_insert_with(facts);
            self.balances.entry((account_id, stripe)).or_insert(Balance::empty(BANK_FLOOR));
        }
        self.payees.clear();
        self.users.clear();
        let read = commands.iter().map(Command::order).zip(read);
        read.for_each(|(order, read)| order.zip(read.as_ref()).map_or((), |(order, read)| self.read(order, read)));
    }

    /// Of a payee, a refused order says less than a hold, and that less than a transfer.
    fn read(&mut self, order: &Order, read: &Read) {
        let Read { payee, per_transfer_limit, per_day_limit, .. } = read.clone();
        let user = UserFacts { per_transfer_limit, per_day_limit, ..UserFacts::default() };
        self.users.insert(order.owner.clone(), user);
        let detail = |payee: &Payee| (!payee.bank.is_empty(), !payee.name.is_empty());
        if self.payees.get(&order.to_beneficiary_id).is_none_or(|known| detail(known) < detail(&payee)) {
            self.payees.insert(order.to_beneficiary_id, payee);
        }
    }

    pub(super) fn write(&mut self, batch: &Batch) {
        for open in &batch.accounts {
            let (owner, number) = (Some(open.owner.clone()), open.account_number.clone());
            self.accounts.insert(open.account_id, AccountFacts { owner, number, is_issued: open.issued.is_some() });
            self.by_owner.entry(open.owner.clone()).or_default().push(open.account_id);
            self.issued.extend(open.issued.map(|number| (number, open.account_id)));
        }
        self.balances.extend(batch.balances.iter().map(|(key, change)| (*key, change.after)));
        for new in &batch.transfers {
            let (kind, status) = (new.kind, new.transfer.status);
            // Of another bank's orders, only those that are sent back are reported on.
            if kind == Kind::Spei || (kind, status) == (Kind::Received, Status::Pending) {
                let open = Open {
                    kind,
                    status,
                    account_id: new.transfer.from_account_id,
                    payee_account_id: (new.rail == Some(RailName::OnUs)).then_some(new.credit_account_id),
                    amount: new.transfer.amount,
                    statuses: 1,
                    under_review: new.rail.filter(|_| new.reviewed),
                    created_at: new.transfer.created_at,
                    moment: batch.moment,
                };
                self.transfers.insert(new.transfer.transfer_id, open);
            }
            // Money is returned once.
            new.returns.map(|id| self.transfers.remove(&id));
        }
        for (id, step) in &batch.moves {
            match self.transfers.get_mut(id) {
                Some(open) if open.kind == Kind::Spei && step.status != Status::Failed => {
                    (open.status, open.moment) = (step.status, open.moment.max(batch.moment));
                    (open.statuses, open.under_review) = (open.statuses + 1, None);
                }
                _ => drop(self.transfers.remove(id)),
            }
        }
        self.holds.extend(batch.holds.iter().map(|it| (it.hold.hold_id, it.clone())));
        batch.hold_ends.keys().for_each(|id| drop(self.holds.remove(id)));
        batch.account_events.iter().for_each(|it| *self.freezes.entry(it.account_id).or_default() += 1);
        let recovered = batch.answers.iter().filter(|((_, key), _)| is_recovered(key));
        self.recovered.extend(recovered.map(|(key, answer)| (key.clone(), answer.clone())));
    }

    /// What each customer's account has.
    pub(super) fn posted(&self) -> impl Iterator<Item = (Uuid, Money)> {
        let customers = self.by_owner.values().flatten();
        customers.filter_map(|id| Some((*id, self.balances.get(&(*id, CUSTOMER_STRIPE))?.posted)))
    }
}

impl Tables for Books {
    fn account(&self, account_id: Uuid) -> Option<&AccountFacts> {
        self.accounts.get(&account_id)
    }

    fn accounts_of<'a>(&'a self, owner: &'a str) -> impl Iterator<Item = (Uuid, &'a AccountFacts)> {
        let own = self.by_owner.get(owner).into_iter().flatten();
        own.filter_map(|id| Some((*id, self.accounts.get(id)?)))
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

    /// What waits for the rail depends on when it answers, and hosts exceed the limit on it, so it refuses nobody here.
    fn pending(&self, _: &str) -> usize {
        0
    }

    /// A repetition changes nothing, so none is recorded but that of a lost request.
    fn answer(&self, owner: &str, key: &str) -> Option<Answer> {
        if self.recovered.is_empty() { None } else { self.recovered.get(&(owner.to_owned(), key.to_owned())).cloned() }
    }

    fn transfer(&self, transfer_id: Uuid) -> Option<ReportedTransfer> {
        let Open { kind, status, account_id, payee_account_id, amount, statuses, under_review, created_at, moment } =
            *self.transfers.get(&transfer_id)?;
        let owner = self.accounts.get(&account_id).and_then(|account| account.owner.clone()).unwrap_or_default();
        // Those that failed and those whose money was returned are gone.
        let returned = false;
        Some(ReportedTransfer {
            kind,
            owner,
            account_id,
            payee_account_id,
            amount,
            status,
            statuses,
            under_review,
            returned,
            created_at,
            moment,
        })
    }

    /// What is recorded had an id of its own.
    fn is_used(&self, _: Uuid) -> bool {
        false
    }

    fn received(&self, _: Uuid) -> Option<IncomingOrder> {
        None
    }

    fn is_tracked(&self, _: &str) -> bool {
        false
    }

    fn hold(&self, hold_id: Uuid) -> Option<&OwnedHold> {
        self.holds.get(&hold_id)
    }

    fn freezes(&self, account_id: Uuid) -> i16 {
        self.freezes.get(&account_id).copied().unwrap_or_default()
    }
}
