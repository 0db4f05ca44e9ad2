//! Forks of what a run stored: with a change that somebody planted, under the rules that decided, and under another rule.

use std::sync::Arc;

use caudal::decision::{RulesAnswer, Ruling};
use caudal::domain::money::Money;
use caudal::domain::rules::{Facts, Verdict, Violation};
use caudal::domain::transfer::{RailEvent, Status};
use caudal::ledger::fork::{Plan, Rules};
use caudal::models::ScoreError;

use crate::chance::Chance;
use crate::naive;
use crate::rerun::{Served, history, run};
use crate::world::RunResult;

/// Refuses some amounts and nothing else.
struct Picky(fn(Money) -> bool);

impl Rules for Picky {
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        let violation = Violation { code: "limit-exceeded".to_owned(), detail: "No.".to_owned() };
        let verdict = if self.0(facts.amount) { Verdict::Rejected(vec![violation]) } else { Verdict::Accepted };
        Ok(Ruling { verdict, own: RulesAnswer::Violations(Vec::new()) })
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        Ok(status.after(event))
    }
}

/// Changes a verdict, or a bit of what a batch stored of its commands.
pub(crate) fn plant(result: &RunResult, chance: &Chance) -> Result<usize, String> {
    let tables = result.model.tables();
    let mut history = history(&tables, &result.models);
    let is_verdict = chance.happens(500);
    let mut places = Vec::new();
    for (at, recorded) in history.iter().enumerate() {
        let decided = recorded.seal.decided().map(|(_, decided)| decided).unwrap_or_default();
        let mut orders = decided.iter().filter_map(|it| it.command.order()).map(|order| order.transfer_id);
        if orders.any(|id| tables.transfers.contains_key(&id)) || !is_verdict && !decided.is_empty() {
            places.push(at);
        }
    }
    let Some(at) = places.get(chance.pick(places.len().max(1))) else { return Ok(0) };
    let planted = &mut history[*at];
    let place = (planted.seal.header.chain_id, planted.seal.header.seq);
    if is_verdict {
        planted.rules = Some(Arc::new(Picky(|_| true)));
    } else {
        let commands = &mut planted.seal.header.commands;
        let byte = chance.pick(commands.len());
        commands[byte] ^= 1 << chance.pick(8);
    }
    let found = run(Plan::default(), history).first_difference;
    let is_found = found.as_ref().is_some_and(|it| (it.chain_id, it.seq) == place);
    if is_found { Ok(1) } else { Err(format!("the change of {place:?} is found as {found:?}")) }
}

pub(crate) fn fork_alike(result: &RunResult, _: &Chance) -> Result<usize, String> {
    let tables = result.model.tables();
    let plan = Plan { rules: Some(Arc::new(Served(result.models.clone()))), ..Plan::default() };
    let report = run(plan, history(&tables, &result.models));
    let is_same = report.first_difference.is_none() && report.balances.differ == 0;
    if is_same { Ok(1) } else { Err(format!("{report:?}")) }
}

pub(crate) fn fork_otherwise(result: &RunResult, _: &Chance) -> Result<usize, String> {
    let is_refused = |amount: Money| amount.minor() % 3 == 0;
    let tables = result.model.tables();
    let report =
        run(Plan { rules: Some(Arc::new(Picky(is_refused))), ..Plan::default() }, history(&tables, &result.models));
    let expected = naive::balances(&tables, is_refused);
    let is_same = report.is_proven && report.balances == expected;
    if is_same { Ok(usize::from(expected.differ > 0)) } else { Err(format!("{report:#?} instead of {expected:?}")) }
}
