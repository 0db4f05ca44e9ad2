//! Decides again what the batches stored, from an empty ledger and in the order of their moments: it gives the same
//! bytes. Only the verdicts of the rules are taken over.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use caudal::domain::clabe::Clabe;
use caudal::domain::rules::{Facts, Verdict};
use caudal::domain::transfer::{RailEvent, Status};
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Context, NoVerdict, Policy, State};
use caudal::ledger::chain::{ChainKey, Seal};
use caudal::ledger::writer::Writer;
use caudal::ledger::{Command, IN_TRANSIT_ACCOUNT};
use uuid::Uuid;

use crate::tables::{LOADS, Model, Tables, write};
use crate::world::KEY;

pub(crate) fn complaints(tables: &Tables) -> Vec<String> {
    let again = Model::default();
    tables.writers.values().for_each(|lease| again.tables().add_stripe(lease.stripe));
    let mut batches: Vec<_> = tables.batches.values().filter(|seal| !seal.header.commands.is_empty()).collect();
    batches.sort_by_key(|seal| (seal.header.moment, seal.header.chain_id, seal.header.seq));
    for seal in batches {
        if let Err(why) = decide_again(&again, tables, seal) {
            return vec![format!("batch {} of chain {}: {why}", seal.header.seq, seal.header.chain_id)];
        }
    }
    let is_same = again.tables().balances == tables.balances;
    if is_same { Vec::new() } else { vec!["the balances are others when everything is decided again".to_owned()] }
}

fn decide_again(again: &Model, tables: &Tables, seal: &Seal) -> Result<(), String> {
    let header = &seal.header;
    let (terms, decided) = seal.decided().ok_or("its commands do not belong to its rows")?;
    let stripe = tables.writers[&header.chain_id].stripe;
    let context = Context { now: header.created_at, stripe, terms };
    let (chain_id, next_seq, head, holder) = (header.chain_id, header.seq, header.prev_hash, Uuid::nil());
    let writer = Writer { chain_id, stripe, next_seq, head, holder };
    let commands: Vec<Command> = decided.iter().map(|it| it.command.clone()).collect();
    let orders: Vec<_> = decided.iter().filter_map(|it| it.command.order().zip(it.read.as_ref())).collect();
    // What belongs to users. Of a payee, a refused order says less than a hold, and that less than a transfer.
    let mut reads = orders.clone();
    reads.sort_by_key(|(_, read)| (!read.payee.bank.is_empty(), !read.payee.name.is_empty()));
    for (order, read) in reads {
        again.tables().payees.insert(order.to_beneficiary_id, read.payee.clone());
    }
    let mut state = State::default();
    LOADS.iter().for_each(|load| load(&again.tables(), &commands, &writer, &context, &mut state));
    // Whether a number had been issued by then.
    for order in commands.iter().filter_map(Command::incoming) {
        let credited = tables.transfers[&order.transfer_id()].new.credit_account_id;
        if credited == IN_TRANSIT_ACCOUNT
            && let Some(number) = Clabe::read(&order.payee_number)
        {
            state.issued.remove(&number);
        }
    }
    for (order, read) in &orders {
        let user = state.users.get_mut(&order.owner).unwrap();
        (user.per_transfer_limit, user.per_day_limit) = (read.per_transfer_limit, read.per_day_limit);
    }
    let verdict = |key: (String, String)| match &tables.answers[&key].outcome {
        Ok(_) => Verdict::Accepted,
        Err(rejection) => Verdict::Rejected(rejection.violations.clone()),
    };
    let owned_key = |order: &caudal::ledger::Order| order.key.clone().map(|key| (order.owner.clone(), key));
    let verdicts: Vec<_> =
        orders.iter().map(|(order, _)| owned_key(order).map_or(Verdict::Accepted, &verdict)).collect();
    let asked = AtomicUsize::new(0);
    let decide =
        |_: &str, _: Uuid, _: &Facts| -> Result<_, NoVerdict> { Ok(verdicts[asked.fetch_add(1, Relaxed)].clone()) };
    let transition = |_: Status, event: RailEvent| -> Result<_, NoVerdict> {
        Ok(Some(if event == RailEvent::Settled { Status::Completed } else { Status::Failed }))
    };
    let (mut batch, outcomes) =
        apply(&mut state, &commands, &context, &Policy { decide: &decide, transition: &transition });
    batch.rules = header.rules.clone();
    batch.decisions = seal.decisions().ok_or("its decisions cannot be read")?;
    let made = ChainKey::new(KEY).unwrap().seal(&batch, header.batch_id, &writer, &context);
    if made != *seal {
        return Err(format!("decided again with {outcomes:?}, it is {made:#?} instead of {seal:#?}"));
    }
    write(&mut again.tables(), &batch, &made).map_err(|_| "it is refused when it is decided again".to_owned())
}
