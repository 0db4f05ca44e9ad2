//! Decides again what the batches stored, from an empty ledger and in the order of their moments: it gives the same
//! bytes.

use std::sync::Arc;

use caudal::decision::Ruling;
use caudal::domain::rules::Facts;
use caudal::domain::transfer::{RailEvent, Status};
use caudal::ledger::chain::{ChainKey, Seal};
use caudal::ledger::fork::{self, Keys, Plan, Recorded, Report, Rules};
use caudal::models::{Models, ScoreError};

use crate::tables::Tables;
use crate::world::KEY;

/// The rules that serve.
pub(crate) struct Served(pub(crate) Models);

impl Rules for Served {
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        self.0.snapshot().rule(facts)
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        self.0.snapshot().transition(status, event)
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
