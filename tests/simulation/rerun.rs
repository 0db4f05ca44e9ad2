//! Decides again what the batches stored, from an empty ledger and in the order of their moments: it gives the same
//! bytes.

use std::sync::Arc;

use caudal::domain::rules::{Facts, Verdict, Violation};
use caudal::domain::transfer::{RailEvent, Status};
use caudal::ledger::chain::{ChainKey, Seal};
use caudal::ledger::fork::{self, Keys, Plan, Recorded, Report, Rules};
use caudal::models::{Models, ScoreError};

use crate::tables::Tables;
use crate::world::KEY;

/// The rules that serve.
pub(crate) struct Served(pub(crate) Models);

impl Rules for Served {
    fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        self.0.snapshot().decide(facts)
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        self.0.snapshot().transition(status, event)
    }
}

/// The same, but for one verdict.
struct Refusing(Served);

impl Rules for Refusing {
    fn decide(&self, _: &Facts) -> Result<Verdict, ScoreError> {
        let violation = Violation { code: "limit-exceeded".to_owned(), detail: "No.".to_owned() };
        Ok(Verdict::Rejected(vec![violation]))
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        self.0.transition(status, event)
    }
}

pub(crate) fn history(tables: &Tables, models: &Models) -> Vec<Recorded> {
    let rules: Arc<dyn Rules> = Arc::new(Served(models.clone()));
    let mut seals: Vec<&Seal> = tables.batches.values().collect();
    seals.sort_by_key(|seal| (seal.header.moment, seal.header.chain_id, seal.header.seq));
    let recorded = seals.into_iter().map(|seal| Recorded {
        seal: seal.clone(),
        stripe: tables.writers[&seal.header.chain_id].stripe,
        rules: Some(Arc::clone(&rules)),
        decisions: Vec::new(),
    });
    recorded.collect()
}

pub(crate) fn run(plan: Plan, history: Vec<Recorded>) -> Report {
    let keys = Keys { ring: ChainKey::new(KEY).unwrap().into(), closed: Default::default() };
    fork::run(plan, &keys, [history])
}

pub(crate) fn complaints(tables: &Tables, models: &Models) -> Vec<String> {
    let report = run(Plan::default(), history(tables, models));
    let is_whole = report.is_proven && report.executed.batches == tables.batches.len() as u64;
    let is_same = is_whole && report.balances.differ == 0 && report.unproven == 0;
    if is_same { Vec::new() } else { vec![format!("decided again, it is another history: {report:?}")] }
}

/// Changes one thing in a batch. `None` if there is no such batch; otherwise why it was not found, if it was not.
pub(crate) fn plant(tables: &Tables, models: &Models, chance: &crate::chance::Chance) -> Option<Result<(), String>> {
    let mut history = history(tables, models);
    let is_verdict = chance.happens(500);
    let sends = |recorded: &Recorded| {
        let (_, decided) = recorded.seal.decided()?;
        let made = decided.iter().filter_map(|it| it.command.order()).find(|it| tables.transfers.contains_key(&it.transfer_id));
        made.map(drop)
    };
    let places: Vec<_> = (0..history.len())
        .filter(|at| if is_verdict { sends(&history[*at]).is_some() } else { !history[*at].seal.header.commands.is_empty() })
        .collect();
    let at = *places.get(chance.pick(places.len().max(1)))?;
    let planted = &mut history[at];
    let place = (planted.seal.header.chain_id, planted.seal.header.seq);
    if is_verdict {
        planted.rules = Some(Arc::new(Refusing(Served(models.clone()))));
    } else {
        let commands = &mut planted.seal.header.commands;
        let byte = chance.pick(commands.len());
        commands[byte] ^= 1 << chance.pick(8);
    }
    let found = run(Plan::default(), history).first_difference;
    let is_found = found.as_ref().is_some_and(|it| (it.chain_id, it.seq) == place);
    Some(is_found.then_some(()).ok_or_else(|| format!("a change of {place:?} is found as {found:?}")))
}
