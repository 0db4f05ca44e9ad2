//! Invariants after a run, checked without the ledger's code.

use std::collections::{BTreeMap, BTreeSet};

use caudal::domain::clabe::Clabe;
use caudal::domain::hold;
use caudal::domain::money::Money;
use caudal::domain::transfer::{Kind, RailName, Status};
use caudal::ledger::batch::{NewEntry, Sent};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::{FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, LedgerError, OpenedAccount, Outcome, Refusal, SPEI_ACCOUNT};
use uuid::Uuid;

use crate::leases::NO_HEAD;
use crate::rerun;
use crate::tables::{StoredTransfer, Tables};
use crate::world::{Attempts, DAY_LIMIT, KEY, OPENING, OWNERS, RunResult, account};

pub(crate) fn complaints(result: &RunResult) -> Vec<String> {
    let mut complaints = result.complaints.clone();
    let tables = result.model.tables();
    check_money(&tables, &mut complaints);
    check_statuses(&tables, &mut complaints);
    check_orders(&tables, &mut complaints);
    check_holds(&tables, &mut complaints);
    check_accounts(&tables, &result.opened, &mut complaints);
    check_chains(&tables, &mut complaints);
    complaints.extend(rerun::complaints(&tables, &result.models));
    if result.terms.per_day_limit.is_some() {
        check_limits(&tables, &mut complaints);
    }
    check_answers(&tables, &result.attempts, &mut complaints);
    complaints
}

fn check_money(tables: &Tables, complaints: &mut Vec<String>) {
    let mut complain = |text: String| complaints.push(text);
    let sum: i64 = tables.balances.values().map(|balance| balance.posted.minor()).sum();
    if sum != 0 {
        complain(format!("all balances add up to {sum}"));
    }
    let mut history = BTreeMap::new();
    for ((key, version), entry) in &tables.entries {
        let (last, posted, at, sent) = history.entry(*key).or_insert((0, 0, entry.created_at, (0, 0)));
        *last += 1;
        *posted += entry.delta.minor();
        if (*last, *posted) != (*version, entry.balance_after.minor()) || entry.created_at < *at {
            complain(format!("entry {version} of {key:?} does not continue the one before it"));
        }
        *at = entry.created_at;
        let (count, sum) = sent_by(tables, entry);
        *sent = (sent.0 + count, sent.1 + sum);
        if (entry.sent_ever.transfers, entry.sent_ever.total.minor()) != *sent {
            complain(format!("entry {version} of {key:?} counts {:?}, not {sent:?}", entry.sent_ever));
        }
    }
    for (key, balance) in &tables.balances {
        let (version, posted) = history.get(key).map_or((0, 0), |(version, posted, ..)| (*version, *posted));
        if (version, posted) != (balance.version, balance.posted.minor()) {
            complain(format!("balance {key:?} is not the sum of its entries"));
        }
        let last = tables.entries.range((*key, 0)..=(*key, i64::MAX)).next_back();
        if last.map_or_else(Sent::default, |(_, entry)| entry.sent_ever) != balance.sent_ever {
            complain(format!("balance {key:?} does not count what its last entry does"));
        }
        if balance.posted < balance.floor {
            complain(format!("balance {key:?} is below its floor"));
        }
    }
    // Recomputed from the transfers alone.
    for index in 0..OWNERS.len() {
        let moved = tables.transfers.values().map(|stored| {
            let transfer = &stored.new.transfer;
            match stored.new.kind {
                Kind::Spei if transfer.from_account_id == account(index) && stored.status() != Status::Failed => {
                    -transfer.amount.minor()
                }
                Kind::Spei
                    if stored.new.credit_account_id == account(index) && stored.status() == Status::Completed =>
                {
                    transfer.amount.minor()
                }
                Kind::Return if stored.new.credit_account_id == account(index) => transfer.amount.minor(),
                Kind::Return if transfer.from_account_id == account(index) => -transfer.amount.minor(),
                Kind::Received if stored.new.credit_account_id == account(index) => transfer.amount.minor(),
                _ => 0,
            }
        });
        let expected = OPENING + moved.sum::<i64>();
        let posted = tables.balances[&(account(index), 0)].posted.minor();
        if posted != expected {
            complain(format!("account {index} has {posted}, but by its transfers it should have {expected}"));
        }
    }
    for bank in [SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT, FUNDING_ACCOUNT] {
        let stripes = tables.balances.iter().filter(|((id, _), _)| *id == bank);
        let posted: i64 = stripes.map(|(_, balance)| balance.posted.minor()).sum();
        let of = |status| {
            let is_one = move |stored: &&StoredTransfer| leaves_the_bank(stored) && stored.status() == status;
            let transfers = tables.transfers.values().filter(is_one);
            transfers.map(|stored| stored.new.transfer.amount.minor()).sum::<i64>()
        };
        let returned: i64 = tables
            .transfers
            .values()
            .filter(|stored| stored.new.kind == Kind::Return && stored.new.transfer.from_account_id == SPEI_ACCOUNT)
            .map(|stored| stored.new.transfer.amount.minor())
            .sum();
        let received = |is_one: fn(Status) -> bool| {
            let orders = tables.transfers.values().filter(|it| it.new.kind == Kind::Received && is_one(it.status()));
            orders.map(|stored| stored.new.transfer.amount.minor()).sum::<i64>()
        };
        let expected = match bank {
            SPEI_ACCOUNT => of(Status::Completed) - returned - received(|status| status != Status::Failed),
            IN_TRANSIT_ACCOUNT => of(Status::Pending) + received(|status| status == Status::Pending),
            _ => -OPENING * OWNERS.len() as i64,
        };
        if posted != expected {
            complain(format!("the bank account {bank} has {posted}, not {expected}"));
        }
    }
}

/// What an entry adds to the transfers that its account ever sent to others.
fn sent_by(tables: &Tables, entry: &NewEntry) -> (i64, i64) {
    let new = &tables.transfers[&entry.transfer_id].new;
    let owner = tables.accounts.get(&new.credit_account_id).and_then(|it| it.owner.as_ref());
    let is_sent =
        new.kind == Kind::Spei && new.transfer.from_account_id == entry.balance.0 && owner != Some(&new.owner);
    if is_sent && entry.delta < Money::ZERO { (1, new.transfer.amount.minor()) } else { (0, 0) }
}

fn leaves_the_bank(stored: &StoredTransfer) -> bool {
    stored.new.kind == Kind::Spei && stored.new.rail != Some(RailName::OnUs)
}

fn check_holds(tables: &Tables, complaints: &mut Vec<String>) {
    let mut open: BTreeMap<Uuid, i64> = BTreeMap::new();
    let mut captured = BTreeSet::new();
    for (id, owned) in &tables.holds {
        let hold = &owned.hold;
        let Some(end) = tables.hold_ends.get(id) else {
            *open.entry(hold.account_id).or_default() += hold.amount.minor();
            continue;
        };
        let transfer = end.transfer_id.map(|id| tables.transfers.get(&id).map(|stored| &stored.new.transfer));
        let is_sound = match (end.status, transfer) {
            (hold::Status::Captured, Some(Some(transfer))) => {
                (transfer.from_account_id, transfer.to_beneficiary_id) == (hold.account_id, Some(hold.beneficiary_id))
                    && transfer.amount <= hold.amount
                    && transfer.created_at < hold.expires_at
                    && captured.insert(transfer.transfer_id)
            }
            (hold::Status::Voided | hold::Status::Expired, None) => true,
            _ => false,
        };
        if !is_sound || (end.account_id, end.amount, end.status) != (hold.account_id, hold.amount, hold.status) {
            complaints.push(format!("hold {hold:?} ended as {end:?}"));
        }
    }
    for ((account, stripe), balance) in &tables.balances {
        let due = if *stripe == 0 { open.get(account).copied().unwrap_or_default() } else { 0 };
        if balance.held.minor() != due || balance.posted.minor() - due < balance.floor.minor() {
            complaints.push(format!(
                "{account} has {} held and {} posted, with holds of {due}",
                balance.held, balance.posted
            ));
        }
    }
}

/// Freezes, issued numbers and the transfers that go by them.
fn check_accounts(tables: &Tables, opened: &[OpenedAccount], complaints: &mut Vec<String>) {
    if tables.debits_while_frozen > 0 {
        complaints.push(format!("{} batches took money from a frozen account", tables.debits_while_frozen));
    }
    let mut frozen = BTreeMap::new();
    for ((account, ordinal), event) in &tables.account_events {
        // They alternate, beginning with a freeze.
        if event.frozen != (ordinal % 2 == 0) {
            complaints.push(format!("account {account} was {} twice in a row", event.as_str()));
        }
        frozen.insert(*account, event.frozen);
    }
    for ((account, _), balance) in &tables.balances {
        if balance.frozen != frozen.get(account).copied().unwrap_or_default() {
            complaints.push(format!("account {account} is frozen: {}, its events disagree", balance.frozen));
        }
    }
    for account in opened {
        let holder = Clabe::read(&account.account_number).and_then(|clabe| tables.issued.get(&clabe));
        if holder != Some(&account.account_id) {
            complaints.push(format!(
                "{} was issued to {} and belongs to {holder:?}",
                account.account_number, account.account_id
            ));
        }
    }
    for stored in tables.transfers.values().filter(|it| it.new.kind == Kind::Spei) {
        let number = stored.new.transfer.payee.as_ref().and_then(|payee| Clabe::read(&payee.number));
        let own = number.and_then(|number| tables.issued.get(&number)).copied();
        let credited = stored.new.credit_account_id;
        let is_right = match stored.new.rail {
            Some(RailName::OnUs) => {
                own == Some(credited) && (stored.status() == Status::Completed || stored.new.reviewed)
            }
            _ => credited == SPEI_ACCOUNT,
        };
        if !is_right {
            complaints.push(format!("{:?} credited {credited}", stored.new));
        }
    }
}

/// Each order of another bank moved once: to the account with its number, or back.
fn check_orders(tables: &Tables, complaints: &mut Vec<String>) {
    for (id, stored) in tables.transfers.iter().filter(|(_, it)| it.new.kind == Kind::Received) {
        let order = stored.new.order.as_ref().unwrap();
        let own = Clabe::read(&order.payee_number).and_then(|number| tables.issued.get(&number)).copied();
        let credited = stored.new.credit_account_id;
        let is_right = match stored.status() {
            Status::Completed => own == Some(credited),
            _ => credited == IN_TRANSIT_ACCOUNT && stored.new.owner.is_empty(),
        };
        if !is_right || order.transfer_id() != *id {
            complaints.push(format!("{:?} credited {credited}", stored.new));
        }
    }
}

fn check_statuses(tables: &Tables, complaints: &mut Vec<String>) {
    let mut returned = BTreeSet::new();
    for (id, stored) in &tables.transfers {
        use Status::{Completed, Failed, Pending};
        let (mut statuses, rail) = (&stored.statuses[..], stored.new.rail);
        if stored.new.reviewed && !rail.is_some_and(RailName::is_instant) {
            // Nothing goes to a rail before a person has released it.
            statuses = match statuses {
                [(Pending, false), released @ ..] if released.first() == Some(&(Pending, true)) => released,
                [(Pending, false)] | [(Pending, false), (Failed, true)] => &[(Pending, false)],
                _ => &[],
            };
        }
        let is_sound = match statuses {
            [(Pending, _)] => true,
            [(Completed, false)] => !stored.new.reviewed,
            [(Pending, _), (Completed | Failed, by_hand)] => {
                *by_hand == (stored.new.reviewed && rail.is_some_and(RailName::is_instant))
            }
            _ => false,
        };
        if !is_sound {
            complaints.push(format!("transfer {id} went through {:?}", stored.statuses));
        }
        if tables.payments.contains(id) != (stored.status() == Pending) {
            complaints.push(format!("transfer {id} is {}, its queued payment disagrees", stored.status()));
        }
        if let Some(of) = stored.new.returns {
            let original = tables.transfers.get(&of);
            let status = original.map(StoredTransfer::status);
            if !returned.insert(of) || status != Some(Completed) {
                complaints.push(format!("transfer {of} was returned twice, or while it was {status:?}"));
            }
            if original.map(|it| it.new.credit_account_id) != Some(stored.new.transfer.from_account_id) {
                complaints.push(format!("transfer {of} was returned by somebody else"));
            }
        }
    }
}

fn check_chains(tables: &Tables, complaints: &mut Vec<String>) {
    let key = ChainKey::new(KEY).unwrap();
    let mut last: Option<(Uuid, i64, [u8; 32])> = None;
    for ((chain_id, seq), seal) in &tables.batches {
        let before = last.filter(|(chain, ..)| chain == chain_id);
        let expected = before.map_or(NO_HEAD, |(.., hash)| hash);
        let follows = *seq == before.map_or(0, |(_, seq, _)| seq + 1);
        if !follows || seal.header.prev_hash != expected || key.hash(&seal.header) != seal.hash {
            complaints.push(format!("batch {seq} of chain {chain_id} does not link to the one before it"));
        }
        // Those that came with the program decide here.
        let rules = &seal.header.rules;
        if (rules.digest.is_empty(), rules.epoch) != (seal.header.commands.is_empty(), 0) {
            complaints.push(format!("batch {seq} of chain {chain_id} was decided by the rules {rules:?}"));
        }
        last = Some((*chain_id, *seq, seal.hash));
    }
}

/// A run lasts less than a day. Rejected transfers free up the limit again, so only the final sum can be checked. Rules that
/// ask for a review have no limit.
fn check_limits(tables: &Tables, complaints: &mut Vec<String>) {
    for owner in ["ana", "luis"] {
        let is_limited = |it: &&StoredTransfer| it.new.kind == Kind::Spei && !it.new.reviewed;
        let sent = tables.transfers.values().filter(is_limited);
        let sent = sent.filter(|it| it.new.owner == owner && it.status() != Status::Failed);
        let total: i64 = sent.map(|stored| stored.new.transfer.amount.minor()).sum();
        if total > DAY_LIMIT {
            complaints.push(format!("{owner} sent {total} in a day with a limit of {DAY_LIMIT}"));
        }
    }
}

/// Every answer is true, and all answers under one key agree.
fn check_answers(tables: &Tables, all: &[Attempts], complaints: &mut Vec<String>) {
    // By key: its transfer, or why there is none.
    let mut meanings: BTreeMap<(String, String), Result<Uuid, Vec<String>>> = BTreeMap::new();
    let mut ids_by_key: BTreeMap<(String, String), BTreeSet<Uuid>> = BTreeMap::new();
    for Attempts { order, ids, answers, .. } in all {
        let key = order.key.clone().map(|key| (order.owner.clone(), key));
        if let Some(key) = &key {
            ids_by_key.entry(key.clone()).or_default().extend(ids);
        }
        let mut is_acknowledged = false;
        for answer in answers {
            let meaning = match answer {
                Ok(Outcome::Sent { transfer, .. }) => {
                    is_acknowledged = true;
                    if !is_made(tables, transfer.transfer_id, order.from_account_id, order.amount) {
                        complaints.push(format!("{order:?} was acknowledged and does not exist"));
                    }
                    Ok(transfer.transfer_id)
                }
                Ok(Outcome::Held { hold, .. }) => {
                    is_acknowledged = true;
                    let is_made = tables.holds.get(&hold.hold_id).is_some_and(|it| it.hold.amount == order.amount);
                    if !is_made || hold.account_id != order.from_account_id {
                        complaints.push(format!("{order:?} was acknowledged and does not exist"));
                    }
                    Ok(hold.hold_id)
                }
                Ok(Outcome::Rejected { violations, .. }) => Err(violations.iter().map(|it| it.code.clone()).collect()),
                Ok(Outcome::Refused(Refusal::KeyReused | Refusal::BeneficiaryNotFound | Refusal::AccountFrozen)) => {
                    continue;
                }
                Ok(Outcome::Refused(Refusal::HoldEnded(_) | Refusal::HoldExceeded(_))) if order.hold_id.is_some() => {
                    continue;
                }
                Ok(other) => {
                    complaints.push(format!("{order:?} was answered with {other:?}"));
                    continue;
                }
                Err(_) => continue,
            };
            if let Some(key) = &key {
                let first = meanings.entry(key.clone()).or_insert_with(|| meaning.clone());
                if *first != meaning {
                    complaints.push(format!("key {key:?} was answered with {first:?} and with {meaning:?}"));
                }
            }
        }
        // Without a key there was one attempt, so its answer must be what happened.
        if key.is_none() {
            let exists = ids.iter().any(|id| exists(tables, id));
            let is_unknown =
                answers.iter().all(|answer| matches!(answer, Err(LedgerError::Unknown | LedgerError::Panicked)));
            if exists && !is_acknowledged && !is_unknown {
                complaints.push(format!("{order:?} was made, and answered with {answers:?}"));
            }
        }
    }
    for (key, ids) in ids_by_key {
        let made = ids.iter().filter(|id| exists(tables, id)).count();
        let rejected = matches!(meanings.get(&key), Some(Err(_)));
        if made > 1 || (made == 1 && rejected) {
            complaints.push(format!("key {key:?} made {made} transfers, answered with {:?}", meanings.get(&key)));
        }
    }
}

fn exists(tables: &Tables, id: &Uuid) -> bool {
    tables.transfers.contains_key(id) || tables.holds.contains_key(id)
}

fn is_made(tables: &Tables, id: Uuid, from: Uuid, amount: Money) -> bool {
    tables.transfers.get(&id).is_some_and(|stored| {
        let transfer = &stored.new.transfer;
        (transfer.from_account_id, transfer.amount) == (from, amount)
    })
}
