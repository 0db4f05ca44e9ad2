//! What a batch reads of tables in memory: a model of the queries of a look-up, for forks and simulations.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::batch::{AccountFacts, Answer, Balance, BalanceKey, Context, Payee, ReportedTransfer, State, UserFacts};
use super::command::Command;
use super::tracking::recovered_key_of;
use super::writer::Writer;
use crate::clock::mexico_city_date;
use crate::domain::account_number::normalise;
use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::clabe::Clabe;
use crate::domain::hold::OwnedHold;
use crate::domain::incoming::IncomingOrder;
use crate::domain::money::Money;

pub trait Tables {
    fn account(&self, account_id: Uuid) -> Option<&AccountFacts>;
    /// The accounts of a user.
    fn accounts_of<'a>(&'a self, owner: &'a str) -> impl Iterator<Item = (Uuid, &'a AccountFacts)>;
    /// The account with a number that the bank issued.
    fn issued(&self, number: Clabe) -> Option<Uuid>;
    fn balance(&self, key: BalanceKey) -> Option<Balance>;
    fn payee(&self, beneficiary_id: Uuid) -> Option<&Payee>;
    /// Without the day's total and what is pending.
    fn user(&self, owner: &str) -> UserFacts;
    /// How many payments of a user wait for the rail.
    fn pending(&self, owner: &str) -> usize;
    /// The recorded answer of a key, with the present status of what it made.
    fn answer(&self, owner: &str, key: &str) -> Option<Answer>;
    /// A transfer that a rail may report on.
    fn transfer(&self, transfer_id: Uuid) -> Option<ReportedTransfer>;
    /// Whether a transfer or a hold has this id.
    fn is_used(&self, id: Uuid) -> bool;
    fn received(&self, transfer_id: Uuid) -> Option<IncomingOrder>;
    /// Whether a transfer to another bank has this key.
    fn is_tracked(&self, tracking_key: &str) -> bool;
    fn hold(&self, hold_id: Uuid) -> Option<&OwnedHold>;
    /// How often an account was frozen or unfrozen.
    fn freezes(&self, account_id: Uuid) -> i16;
}

/// A query of a look-up.
pub type Load<T> = fn(&T, &[Command], &Writer, &Context, &mut State);

/// In the order of the real ones. Each sees a later snapshot.
pub fn loads<T: Tables>() -> [Load<T>; 7] {
    [load_numbers, load_facts, load_transfers, load_used, load_issued, load_holds, load_freezes]
}

fn load_numbers<T: Tables>(tables: &T, commands: &[Command], _: &Writer, _: &Context, state: &mut State) {
    for command in commands {
        let Command::Open(open) = command else { continue };
        let number = normalise(&open.account_number);
        if tables.accounts_of(&open.owner).any(|(_, facts)| normalise(&facts.number) == number) {
            state.numbers.insert((open.owner.clone(), number));
        }
    }
}

fn load_facts<T: Tables>(tables: &T, commands: &[Command], writer: &Writer, context: &Context, state: &mut State) {
    load_balances(tables, commands, writer, state);
    for order in commands.iter().filter_map(Command::order) {
        if let Some(payee) = tables.payee(order.to_beneficiary_id) {
            state.payees.insert(order.to_beneficiary_id, payee.clone());
        }
    }
    load_users(tables, commands, context, state);
    load_answers(tables, commands, state);
}

fn load_balances<T: Tables>(tables: &T, commands: &[Command], writer: &Writer, state: &mut State) {
    let own = [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT].map(|id| (id, writer.stripe));
    let named = commands.iter().filter(|command| !matches!(command, Command::Open(_))).filter_map(Command::account_id);
    let payees = commands.iter().filter_map(Command::payee_account_id);
    for key in named.chain(payees).map(|id| (id, CUSTOMER_STRIPE)).chain(own) {
        if let (Some(balance), Some(facts)) = (tables.balance(key), tables.account(key.0)) {
            state.balances.insert(key, balance);
            state.accounts.insert(key.0, facts.clone());
        }
    }
}

fn load_users<T: Tables>(tables: &T, commands: &[Command], context: &Context, state: &mut State) {
    let today = mexico_city_date(context.now);
    for owner in commands.iter().filter_map(Command::order).map(|order| &order.owner) {
        let balances = tables.accounts_of(owner).filter_map(|(id, _)| tables.balance((id, CUSTOMER_STRIPE)));
        let sent = balances.filter(|balance| balance.sent_day >= today).map(|balance| balance.sent);
        let day_total = sent.fold(Money::ZERO, |sum, sent| sum.checked_add(sent).unwrap_or(Money::MAX));
        let pending = if context.terms.rail.is_instant() { 0 } else { tables.pending(owner) };
        let pending = i32::try_from(pending).unwrap_or(i32::MAX);
        state.users.insert(owner.clone(), UserFacts { day_total, pending, ..tables.user(owner) });
    }
}

/// A lost payment that was recovered waits under a key of its own for the retry.
fn load_answers<T: Tables>(tables: &T, commands: &[Command], state: &mut State) {
    for command in commands {
        let Some((order, key)) = command.order().and_then(|order| Some((order, order.key.clone()?))) else { continue };
        let find = |key: String| tables.answer(&order.owner, &key).map(|answer| (key, answer));
        let recovered = || if let Command::Transfer(_) = command { recovered_key_of(order) } else { None };
        if let Some((key, answer)) = find(key).or_else(|| find(recovered()?)) {
            state.answers.insert((order.owner.clone(), key), answer);
        }
    }
}

fn load_transfers<T: Tables>(tables: &T, commands: &[Command], _: &Writer, _: &Context, state: &mut State) {
    for command in commands {
        let Command::Report(report) = command else { continue };
        state.transfers.extend(tables.transfer(report.transfer_id).map(|it| (report.transfer_id, it)));
    }
}

fn load_used<T: Tables>(tables: &T, commands: &[Command], _: &Writer, _: &Context, state: &mut State) {
    state.used.extend(commands.iter().filter_map(Command::chosen_id).filter(|id| tables.is_used(*id)));
    let known = commands.iter().filter_map(Command::incoming).map(IncomingOrder::transfer_id);
    state.received.extend(known.filter_map(|id| Some((id, tables.received(id)?))));
    for command in commands {
        let Command::Recover(recover) = command else { continue };
        if tables.is_tracked(&recover.tracking_key) {
            state.tracked.insert(recover.tracking_key.clone());
        }
    }
}

fn load_issued<T: Tables>(tables: &T, commands: &[Command], _: &Writer, context: &Context, state: &mut State) {
    let new = commands.iter().filter_map(|command| match command {
        Command::Open(open) => open.issued,
        Command::Receive(receive) => Clabe::read(&receive.order.payee_number),
        _ => None,
    });
    let range = context.terms.on_us;
    let payees = state.payees.values().filter_map(|payee| Clabe::read(&payee.number));
    let wanted: BTreeSet<_> =
        new.chain(payees.filter(|clabe| range.is_some_and(|range| range.is_same_bank(*clabe)))).collect();
    for clabe in wanted {
        let Some(account) = tables.issued(clabe) else { continue };
        let key = (account, CUSTOMER_STRIPE);
        state.issued.insert(clabe, account);
        if let (Some(balance), Some(facts)) = (tables.balance(key), tables.account(account)) {
            state.balances.entry(key).or_insert(balance);
            state.accounts.entry(account).or_insert_with(|| facts.clone());
        }
    }
}

fn load_holds<T: Tables>(tables: &T, commands: &[Command], _: &Writer, _: &Context, state: &mut State) {
    for id in commands.iter().filter_map(Command::hold_id) {
        state.holds.extend(tables.hold(id).map(|hold| (id, hold.clone())));
    }
}

fn load_freezes<T: Tables>(tables: &T, commands: &[Command], _: &Writer, _: &Context, state: &mut State) {
    for command in commands {
        let Command::Freeze(freeze) = command else { continue };
        let freezes = tables.freezes(freeze.account_id);
        if freezes > 0 {
            state.freezes.insert(freeze.account_id, freezes);
        }
    }
}
