//! What has to hold after a run, computed without the ledger's code.

use std::collections::{BTreeMap, BTreeSet};

use caudal::domain::money::Money;
use caudal::domain::transfer::{Kind, Status};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::{FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, LedgerError, Outcome, SPEI_ACCOUNT};
use uuid::Uuid;

use crate::tables::{Kept, Tables};
use crate::world::{DAY_LIMIT, KEY, OPENING, OWNERS, Remains, Told, account};

/// Everything that is wrong.
pub(crate) fn complaints(remains: &Remains) -> Vec<String> {
    let mut complaints = remains.complaints.clone();
    let tables = remains.model.tables();
    money(&tables, &mut complaints);
    lives(&tables, &mut complaints);
    chains(&tables, &mut complaints);
    if remains.terms.per_day_limit.is_some() {
        limits(&tables, &mut complaints);
    }
    answers(&tables, &remains.told, &mut complaints);
    complaints
}

fn money(tables: &Tables, complaints: &mut Vec<String>) {
    let mut complain = |text: String| complaints.push(text);
    let sum: i64 = tables.balances.values().map(|balance| balance.posted.minor()).sum();
    if sum != 0 {
        complain(format!("all balances add up to {sum}"));
    }
    let mut history = BTreeMap::new();
    for ((key, version), entry) in &tables.entries {
        let (last, posted, at) = history.entry(*key).or_insert((0, 0, entry.created_at));
        *last += 1;
        *posted += entry.delta.minor();
        if (*last, *posted) != (*version, entry.balance_after.minor()) || entry.created_at < *at {
            complain(format!("entry {version} of {key:?} does not continue the one before it"));
        }
        *at = entry.created_at;
    }
    for (key, balance) in &tables.balances {
        let (version, posted) = history.get(key).map_or((0, 0), |(version, posted, _)| (*version, *posted));
        if (version, posted) != (balance.version, balance.posted.minor()) {
            complain(format!("balance {key:?} is not the sum of its entries"));
        }
        if balance.posted < balance.floor {
            complain(format!("balance {key:?} is below its floor"));
        }
    }
    // From the transfers alone.
    for index in 0..OWNERS.len() {
        let moved = tables.transfers.values().map(|kept| {
            let transfer = &kept.new.transfer;
            match kept.new.kind {
                Kind::Spei if transfer.from_account_id == account(index) && kept.status() != Status::Failed => {
                    -transfer.amount.minor()
                }
                Kind::Return if kept.new.credit_account_id == account(index) => transfer.amount.minor(),
                _ => 0,
            }
        });
        let expected = OPENING + moved.sum::<i64>();
        let posted = tables.balances[&(account(index), 0)].posted.minor();
        if posted != expected {
            complain(format!("account {index} has {posted}, and its transfers leave {expected}"));
        }
    }
    for bank in [SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT, FUNDING_ACCOUNT] {
        let stripes = tables.balances.iter().filter(|((id, _), _)| *id == bank);
        let posted: i64 = stripes.map(|(_, balance)| balance.posted.minor()).sum();
        let of = |status| {
            let kept =
                tables.transfers.values().filter(move |kept| kept.new.kind == Kind::Spei && kept.status() == status);
            kept.map(|kept| kept.new.transfer.amount.minor()).sum::<i64>()
        };
        let returned: i64 = tables
            .transfers
            .values()
            .filter(|kept| kept.new.kind == Kind::Return)
            .map(|kept| kept.new.transfer.amount.minor())
            .sum();
        let expected = match bank {
            SPEI_ACCOUNT => of(Status::Completed) - returned,
            IN_TRANSIT_ACCOUNT => of(Status::Pending),
            _ => -OPENING * OWNERS.len() as i64,
        };
        if posted != expected {
            complain(format!("the bank's account {bank} has {posted} and not {expected}"));
        }
    }
}

fn lives(tables: &Tables, complaints: &mut Vec<String>) {
    let mut returned = BTreeSet::new();
    for (id, kept) in &tables.transfers {
        let statuses: Vec<_> = kept.statuses.iter().map(|(status, _)| *status).collect();
        use Status::{Completed, Failed, Pending};
        if ![&[Pending][..], &[Completed], &[Pending, Completed], &[Pending, Failed]].contains(&&statuses[..]) {
            complaints.push(format!("transfer {id} went through {statuses:?}"));
        }
        if tables.payments.contains(id) != (kept.status() == Pending) {
            complaints.push(format!("transfer {id} is {} and its payment is not", kept.status()));
        }
        if let Some(of) = kept.new.returns {
            let original = tables.transfers.get(&of).map(Kept::status);
            if !returned.insert(of) || original != Some(Completed) {
                complaints.push(format!("the money of {of} came back though it is {original:?}, or twice"));
            }
        }
    }
}

fn chains(tables: &Tables, complaints: &mut Vec<String>) {
    let key = ChainKey::new(KEY).unwrap();
    let mut last: Option<(Uuid, i64, [u8; 32])> = None;
    for ((chain_id, seq), seal) in &tables.batches {
        let before = last.filter(|(chain, ..)| chain == chain_id);
        let expected = before.map_or_else(|| key.genesis(*chain_id, *seq), |(.., hash)| hash);
        let follows = *seq == before.map_or(0, |(_, seq, _)| seq + 1);
        if !follows || seal.header.prev_hash != expected || key.hash(&seal.header) != seal.hash {
            complaints.push(format!("batch {seq} of chain {chain_id} does not continue it"));
        }
        last = Some((*chain_id, *seq, seal.hash));
    }
}

/// One day long nobody sent more than allowed. What came back or was refused made room again, so only what stands
/// at the end is certain.
fn limits(tables: &Tables, complaints: &mut Vec<String>) {
    for owner in ["ana", "luis"] {
        let sent = tables
            .transfers
            .values()
            .filter(|kept| kept.new.kind == Kind::Spei && kept.new.owner == owner && kept.status() != Status::Failed);
        let total: i64 = sent.map(|kept| kept.new.transfer.amount.minor()).sum();
        if total > DAY_LIMIT {
            complaints.push(format!("{owner} sent {total} in a day of {DAY_LIMIT}"));
        }
    }
}

/// Clients were told the truth.
fn answers(tables: &Tables, told: &[Told], complaints: &mut Vec<String>) {
    // What each key stands for: its transfer, or that there is none.
    let mut meant: BTreeMap<(String, String), Result<Uuid, Vec<String>>> = BTreeMap::new();
    let mut attempts: BTreeMap<(String, String), BTreeSet<Uuid>> = BTreeMap::new();
    for Told { order, attempts: ids, answers } in told {
        let key = order.key.clone().map(|key| (order.owner.clone(), key));
        if let Some(key) = &key {
            attempts.entry(key.clone()).or_default().extend(ids);
        }
        let mut is_there = false;
        for answer in answers {
            let meaning = match answer {
                Ok(Outcome::Sent { transfer, .. }) => {
                    is_there = true;
                    if !is_made(tables, transfer.transfer_id, order.from_account_id, order.amount) {
                        complaints.push(format!("{order:?} was acknowledged and is not there"));
                    }
                    Ok(transfer.transfer_id)
                }
                Ok(Outcome::Rejected { violations, .. }) => Err(violations.iter().map(|it| it.code.clone()).collect()),
                Ok(Outcome::KeyReused | Outcome::BeneficiaryNotFound) => continue,
                Ok(other) => {
                    complaints.push(format!("{order:?} was answered with {other:?}"));
                    continue;
                }
                Err(_) => continue,
            };
            if let Some(key) = &key {
                let first = meant.entry(key.clone()).or_insert_with(|| meaning.clone());
                if *first != meaning {
                    complaints.push(format!("key {key:?} stands for {first:?} and for {meaning:?}"));
                }
            }
        }
        // Without a key there was one attempt: what it was told is what happened.
        if key.is_none() {
            let exists = ids.iter().any(|id| tables.transfers.contains_key(id));
            let untold =
                answers.iter().all(|answer| matches!(answer, Err(LedgerError::Unknown | LedgerError::Panicked)));
            if exists && !is_there && !untold {
                complaints.push(format!("{order:?} was made, and its sender was told {answers:?}"));
            }
        }
    }
    for (key, ids) in attempts {
        let made = ids.iter().filter(|id| tables.transfers.contains_key(id)).count();
        let rejected = matches!(meant.get(&key), Some(Err(_)));
        if made > 1 || (made == 1 && rejected) {
            complaints.push(format!("key {key:?} made {made} transfers, told {:?}", meant.get(&key)));
        }
    }
}

fn is_made(tables: &Tables, id: Uuid, from: Uuid, amount: Money) -> bool {
    tables.transfers.get(&id).is_some_and(|kept| {
        let transfer = &kept.new.transfer;
        (transfer.from_account_id, transfer.amount) == (from, amount)
    })
}
