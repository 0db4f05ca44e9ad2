//! What customers' accounts would have under a rule that refuses some amounts, without the ledger's code.

use std::collections::BTreeMap;

use caudal::domain::clabe::Clabe;
use caudal::domain::money::Money;
use caudal::domain::transfer::Report;
use caudal::ledger::fork::Balances;
use caudal::ledger::{CUSTOMER_STRIPE, Command, IN_TRANSIT_ACCOUNT, Order};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::tables::Tables;

#[derive(Default)]
struct Account {
    posted: i64,
    held: i64,
    frozen: bool,
}

struct Payment {
    from: Uuid,
    /// At this bank.
    to: Option<Uuid>,
    amount: i64,
    is_pending: bool,
}

struct Hold {
    account: Uuid,
    amount: i64,
    expires_at: OffsetDateTime,
    /// Whether only the fork has it, or its end is not carried out.
    is_forked: bool,
}

#[derive(Default)]
struct Bank {
    accounts: BTreeMap<Uuid, Account>,
    issued: BTreeMap<Clabe, Uuid>,
    payments: BTreeMap<Uuid, Payment>,
    holds: BTreeMap<Uuid, Hold>,
}

pub(crate) fn balances(tables: &Tables, is_refused: fn(Money) -> bool) -> Balances {
    let mut bank = Bank::default();
    let mut batches: Vec<_> = tables.batches.values().filter(|seal| !seal.header.commands.is_empty()).collect();
    batches.sort_by_key(|seal| (seal.header.moment, seal.header.chain_id, seal.header.seq));
    for seal in batches {
        let now = seal.header.created_at;
        let due = bank.holds.iter().filter(|(_, it)| it.is_forked && it.expires_at <= now).map(|(id, _)| *id);
        due.collect::<Vec<_>>().iter().for_each(|id| bank.release(id));
        let (terms, decided) = seal.decided().unwrap();
        for decided in decided {
            let number = decided.read.and_then(|read| Clabe::read(&read.payee.number));
            let number = number.filter(|number| terms.on_us.is_some_and(|range| range.is_same_bank(*number)));
            match decided.command {
                Command::Transfer(order) => {
                    let is_sent = tables.transfers.contains_key(&order.transfer_id);
                    let is_settled = terms.rail.is_instant() || number.is_some() || !is_sent;
                    let done = !is_refused(order.amount) && bank.send(&order, number, is_settled, now);
                    if let Some(hold) =
                        order.hold_id.and_then(|id| bank.holds.get_mut(&id)).filter(|_| !done && is_sent)
                    {
                        hold.is_forked = true;
                    }
                }
                Command::Hold(place) => {
                    let is_forked = !tables.holds.contains_key(&place.order.transfer_id);
                    if !is_refused(place.order.amount) {
                        bank.hold(&place.order, now + place.lifetime, is_forked);
                    }
                }
                Command::Release(release) => bank.release(&release.hold_id),
                Command::Freeze(freeze) => bank.account(freeze.account_id).frozen = freeze.frozen,
                Command::Open(open) => {
                    bank.account(open.account_id).posted = open.opening_credit.minor();
                    bank.issued.extend(open.issued.map(|issued| (issued, open.account_id)));
                }
                Command::Fund(fund) => bank.account(fund.account_id).posted += fund.amount.minor(),
                Command::Receive(receive) => {
                    let credited = tables.transfers[&receive.order.transfer_id()].new.credit_account_id;
                    if credited != IN_TRANSIT_ACCOUNT {
                        bank.account(credited).posted += receive.order.amount.minor();
                    }
                }
                Command::Report(report) => bank.report(report.transfer_id, report.report),
                Command::Recover(_) => unreachable!("nothing is lost"),
            }
        }
    }
    let mut balances = Balances::default();
    for (id, account) in &bank.accounts {
        let more = account.posted - tables.balances[&(*id, CUSTOMER_STRIPE)].posted.minor();
        balances.accounts += 1;
        balances.differ += u64::from(more != 0);
        balances.higher += more.max(0);
        balances.lower += (-more).max(0);
    }
    balances
}

impl Bank {
    fn account(&mut self, id: Uuid) -> &mut Account {
        self.accounts.entry(id).or_default()
    }

    fn send(&mut self, order: &Order, number: Option<Clabe>, is_settled: bool, now: OffsetDateTime) -> bool {
        let hold = order.hold_id.map(|id| self.holds.get(&id).filter(|it| it.expires_at > now).map(|it| it.amount));
        let reserved = match hold {
            Some(None) => return false,
            Some(Some(reserved)) => reserved,
            None => 0,
        };
        let amount = order.amount.minor();
        let to = number.map(|number| self.issued.get(&number).copied());
        let account = self.account(order.from_account_id);
        let is_covered = account.posted - account.held + reserved >= amount;
        let is_good = order.hold_id.is_none() || amount <= reserved;
        if account.frozen || !is_covered || !is_good || to == Some(None) || to == Some(Some(order.from_account_id)) {
            return false;
        }
        order.hold_id.iter().for_each(|id| self.release(id));
        self.account(order.from_account_id).posted -= amount;
        let to = to.flatten();
        to.into_iter().for_each(|to| self.account(to).posted += amount);
        let payment = Payment { from: order.from_account_id, to, amount, is_pending: !is_settled };
        self.payments.insert(order.transfer_id, payment);
        true
    }

    fn hold(&mut self, order: &Order, expires_at: OffsetDateTime, is_forked: bool) {
        let (id, amount) = (order.from_account_id, order.amount.minor());
        let account = self.account(id);
        if !account.frozen && account.posted - account.held >= amount {
            account.held += amount;
            self.holds.insert(order.transfer_id, Hold { account: id, amount, expires_at, is_forked });
        }
    }

    fn release(&mut self, id: &Uuid) {
        if let Some(hold) = self.holds.remove(id) {
            self.account(hold.account).held -= hold.amount;
        }
    }

    fn report(&mut self, id: Uuid, report: Report) {
        // This rule leaves nothing to a person.
        if matches!(report, Report::Released | Report::Refused) {
            return;
        }
        let Some(Payment { from, to, amount, is_pending }) = self.payments.remove(&id) else { return };
        if report == Report::Settled {
            self.payments.insert(id, Payment { from, to, amount, is_pending: false });
            return;
        }
        if let Some(to) = to.filter(|_| !is_pending) {
            let payee = self.account(to);
            if payee.frozen || payee.posted - payee.held < amount {
                self.payments.insert(id, Payment { from, to: Some(to), amount, is_pending });
                return;
            }
            payee.posted -= amount;
        }
        self.account(from).posted += amount;
    }
}
