//! Properties of `apply`: whatever commands arrive in whatever order, money is conserved and a key has one answer.

use std::collections::BTreeMap;

use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::risk::{Level, Risk};
use caudal::domain::rules::{Verdict, Violation};
use caudal::domain::transfer::Status;
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Balance, Batch, NoVerdict, Policy, State};
use caudal::ledger::writer::Writer;
use caudal::ledger::{CUSTOMER_STRIPE, Command, Outcome, Refusal};
use proptest::prelude::*;
use uuid::Uuid;

use crate::model::{CONTEXT, STRIPE, Small, account, command, commit, key, lenient, payee, world};

/// Of what a batch stores of a command besides its rows, and of the terms.
const COMMAND_BYTES_MAX: usize = 150;

fn small() -> impl Strategy<Value = Small> {
    // Small balances, so that both sufficient and insufficient funds are common.
    let amount = prop_oneof![1..=5_i64, Just(i64::MAX), Just(Money::MAX.minor())];
    prop_oneof![
        1 => (0..4_u8, 1..=10_i64).prop_map(|(account, amount)| Small::Fund { account, amount }),
        4 => (0..3_u8, 0..4_u8, 0..5_u8, amount, prop::option::of(0..4_u8))
            .prop_map(|(user, account, payee, amount, key)| Small::Transfer { user, account, payee, amount, key }),
    ]
}

/// Decides and commits `commands` in batches of `size`.
fn run(commands: &[Command], size: usize) -> (State, Vec<Outcome>, Vec<Batch>) {
    let (mut store, mut outcomes, mut batches) = (world(), Vec::new(), Vec::new());
    for commands in commands.chunks(size) {
        let (batch, decided) = apply(&mut store.clone(), commands, &CONTEXT, &lenient());
        assert_eq!(decided.len(), commands.len());
        commit(&mut store, &batch);
        outcomes.extend(decided);
        batches.push(batch);
    }
    (store, outcomes, batches)
}

proptest! {
    #[test]
    fn money_is_conserved_and_no_balance_is_overdrawn(smalls in prop::collection::vec(small(), 0..40), size in 1..20_usize) {
        let commands: Vec<_> = smalls.iter().enumerate().map(|(index, small)| command(index, small)).collect();
        let (store, _, batches) = run(&commands, size);
        prop_assert_eq!(store.balances.values().map(|balance| i128::from(balance.posted.minor())).sum::<i128>(), 0);
        prop_assert!(store.balances.values().all(|balance| balance.posted >= balance.floor));

        let mut histories = BTreeMap::new();
        for batch in &batches {
            let mut deltas = BTreeMap::<_, Vec<i64>>::new();
            for entry in &batch.entries {
                // Histories have no gaps.
                let (version, posted) = histories.entry(entry.balance).or_insert((0_i64, 0_i64));
                *version += 1;
                *posted += entry.delta.minor();
                prop_assert_eq!((*version, *posted), (entry.version, entry.balance_after.minor()));
                deltas.entry(entry.transfer_id).or_default().push(entry.delta.minor());
            }
            prop_assert_eq!(deltas.len(), batch.transfers.len());
            for new in &batch.transfers {
                let amount = new.transfer.amount.minor();
                prop_assert_eq!(&deltas[&new.transfer.transfer_id], &vec![-amount, amount]);
            }
        }
        for (key, balance) in &store.balances {
            let history = histories.get(key).copied().unwrap_or_default();
            prop_assert_eq!(history, (balance.version, balance.posted.minor()));
        }
    }

    #[test]
    fn batching_makes_no_difference(smalls in prop::collection::vec(small(), 0..40), size in 2..20_usize) {
        let commands: Vec<_> = smalls.iter().enumerate().map(|(index, small)| command(index, small)).collect();
        let (one_by_one, single, _) = run(&commands, 1);
        let (together, grouped, _) = run(&commands, size);
        prop_assert_eq!(single, grouped);
        let balances = |state: &State| state.balances.iter().map(|(key, b)| (*key, b.posted, b.version)).collect::<Vec<_>>();
        prop_assert_eq!(balances(&one_by_one), balances(&together));
    }

    /// As the simulation does, with holds, reports, freezes and several hosts.
    #[test]
    fn what_is_stored_is_decided_again(smalls in prop::collection::vec(small(), 1..40)) {
        let commands: Vec<_> = smalls.iter().enumerate().map(|(index, small)| {
            let mut command = command(index, small);
            if let Command::Transfer(order) = &mut command {
                order.remittance = Remittance { concept: Some("Renta de noviembre".to_owned()), reference: Some(7) };
                order.risk = Risk::Assessed { level: Level::High, acknowledged: Some(order.transfer_id) };
            }
            command
        }).collect();
        let (chain_id, head, holder) = (Uuid::from_u128(1), [0; 32], Uuid::nil());
        let writer = Writer { chain_id, stripe: STRIPE, next_seq: 0, head, holder };
        let decide = |commands: &[Command]| {
            let (batch, _) = apply(&mut world(), commands, &CONTEXT, &lenient());
            key().seal(&batch, chain_id, &writer, &CONTEXT)
        };
        let seal = decide(&commands);
        if let Some((terms, decided)) = seal.decided() {
            prop_assert_eq!(terms, CONTEXT.terms);
            let again: Vec<_> = decided.into_iter().map(|it| it.command).collect();
            prop_assert!(seal.header.commands.len() <= COMMAND_BYTES_MAX * (1 + again.len()));
            prop_assert_eq!(decide(&again), seal);
        } else {
            prop_assert!(seal.header.commands.is_empty());
        }
    }

    #[test]
    fn a_key_has_one_answer(smalls in prop::collection::vec(small(), 0..40), size in 1..20_usize) {
        let commands: Vec<_> = smalls.iter().enumerate().map(|(index, small)| command(index, small)).collect();
        let (_, outcomes, _) = run(&commands, size);
        let mut first = BTreeMap::new();
        for (command, outcome) in commands.iter().zip(&outcomes) {
            let Command::Transfer(order) = command else { continue };
            let Some(key) = &order.key else { continue };
            let request = (order.from_account_id, order.to_beneficiary_id, order.amount);
            let answer = match outcome {
                Outcome::Sent { transfer, replayed } => (request, Ok(transfer.clone()), *replayed),
                Outcome::Rejected { violations, replayed, .. } => (request, Err(violations.clone()), *replayed),
                Outcome::Refused(Refusal::KeyReused) => {
                    let (earlier, _) = &first[&(order.owner.clone(), key.clone())];
                    prop_assert_ne!(earlier, &request);
                    continue;
                }
                _ => continue,
            };
            let (request, result, replayed) = answer;
            match first.get(&(order.owner.clone(), key.clone())) {
                None => {
                    prop_assert!(!replayed);
                    first.insert((order.owner.clone(), key.clone()), (request, result));
                }
                Some(earlier) => {
                    prop_assert!(replayed);
                    prop_assert_eq!(earlier, &(request, result));
                }
            }
        }
    }

    #[test]
    fn users_touch_only_their_own(smalls in prop::collection::vec(small(), 0..40)) {
        let commands: Vec<_> = smalls.iter().enumerate().map(|(index, small)| command(index, small)).collect();
        let (store, outcomes, _) = run(&commands, 7);
        for (command, outcome) in commands.iter().zip(outcomes) {
            if let (Command::Transfer(order), Outcome::Sent { .. }) = (command, outcome) {
                prop_assert_eq!(store.accounts[&order.from_account_id].owner.as_deref(), Some(order.owner.as_str()));
                prop_assert_eq!(&store.payees[&order.to_beneficiary_id].owner, &order.owner);
            }
        }
    }
}

/// One transfer of 5 from a balance of 10.
fn transfer_with(policy: &Policy<'_>) -> (Batch, Outcome) {
    let mut state = world();
    let fund = command(0, &Small::Fund { account: 0, amount: 10 });
    let (batch, _) = apply(&mut state.clone(), &[fund], &CONTEXT, &lenient());
    commit(&mut state, &batch);
    let order = command(1, &Small::Transfer { user: 0, account: 0, payee: 0, amount: 5, key: Some(0) });
    let (batch, mut outcomes) = apply(&mut state, &[order], &CONTEXT, policy);
    (batch, outcomes.remove(0))
}

#[test]
fn the_rules_see_the_facts_and_their_rejection_is_recorded() {
    let decide = |_: &str, _: uuid::Uuid, facts: &caudal::domain::rules::Facts| {
        assert_eq!((facts.amount.minor(), facts.available.minor()), (5, 10));
        assert_eq!((facts.local_hour, facts.same_account, facts.beneficiary_age_seconds), (12, false, 0));
        Ok(Verdict::Rejected(vec![Violation { code: "limit-exceeded".into(), detail: "No.".into() }]))
    };
    let (batch, outcome) = transfer_with(&Policy { decide: &decide, ..lenient() });
    assert!(matches!(outcome, Outcome::Rejected { replayed: false, .. }), "{outcome:?}");
    assert!(batch.transfers.is_empty() && batch.entries.is_empty());
    // It rests on the balance without changing it.
    let change = batch.balances[&(account(0), CUSTOMER_STRIPE)];
    assert_eq!(change.after, Balance { moment: batch.moment, ..change.before });
    assert_eq!(batch.answers.len(), 1);
}

#[test]
fn rules_that_fail_or_answer_nonsense_decide_nothing() {
    let fails = |_: &str, _: uuid::Uuid, _: &caudal::domain::rules::Facts| Err(NoVerdict);
    let (batch, outcome) = transfer_with(&Policy { decide: &fails, ..lenient() });
    assert_eq!(outcome, Outcome::Refused(Refusal::RulesUnavailable));
    assert!(batch.is_empty());
    for next in [None, Some(Status::Pending), Some(Status::Failed)] {
        let transition = move |_, _| Ok(next);
        let (batch, outcome) = transfer_with(&Policy { transition: &transition, ..lenient() });
        assert_eq!(outcome, Outcome::Refused(Refusal::RulesUnavailable), "{next:?}");
        assert!(batch.is_empty(), "{next:?}");
    }
}

#[test]
fn the_core_prevents_overdrafts_whatever_the_rules_say() {
    let order = command(0, &Small::Transfer { user: 0, account: 0, payee: 0, amount: 1, key: None });
    let (batch, outcomes) = apply(&mut world(), &[order], &CONTEXT, &lenient());
    assert!(matches!(&outcomes[0], Outcome::Rejected { violations, .. } if violations[0].code == "insufficient-funds"));
    assert!(batch.is_empty());
    assert_eq!(world().balances[&(account(0), CUSTOMER_STRIPE)].posted, Money::ZERO);
    assert!(world().payees.contains_key(&payee(3)));
}
