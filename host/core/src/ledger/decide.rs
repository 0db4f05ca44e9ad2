//! Runs [`apply`](mod@super::apply) with the active rules component, and keeps its decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use super::apply::apply;
use super::batch::{Batch, Context, NoVerdict, Policy, State};
use super::command::{Command, Outcome};
use crate::decision::Decision;
use crate::domain::model::ModelKind;
use crate::domain::rules::Facts;
use crate::models::{Models, ScoreError};

/// Owners for whom the rules may fail in a batch before the rest of it stays undecided. Each failure may take a whole
/// deadline of ten milliseconds, and a batch blocks its thread. After a failure, the owner's other orders in the batch
/// stay undecided, so that nobody uses up what others need.
const FAILED_OWNERS_MAX: usize = 16;

/// Decides a batch with one snapshot of the rules: a swap takes effect between batches.
pub(super) fn decide(
    models: &Models,
    state: &mut State,
    commands: &[Command],
    context: &Context,
) -> (Batch, Vec<Outcome>) {
    let snapshot = models.snapshot();
    let rules = snapshot.deployed(ModelKind::TransferRules);
    let decisions = Mutex::new(BTreeMap::new());
    let failed = Mutex::new(BTreeSet::new());
    let transitions = Mutex::new(BTreeMap::new());
    let failed = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    // Transitions, which concern everybody, have no owner.
    let no_verdict = |owner: &str, error: ScoreError| {
        failed().insert(owner.to_owned());
        tracing::error!(error = &error as &dyn std::error::Error, "the transfer rules gave no usable answer");
        NoVerdict
    };
    let ready = |owner: &str| {
        let failed = failed();
        if failed.len() < FAILED_OWNERS_MAX && !failed.contains(owner) { Ok(()) } else { Err(NoVerdict) }
    };
    let (mut batch, outcomes) = {
        let decide = |owner: &str, transfer_id: Uuid, facts: &Facts| {
            ready(owner)?;
            let ruling = snapshot.rule(facts).map_err(|error| no_verdict(owner, error))?;
            let decision = rules.map(|by| (transfer_id, Decision::by_rules(by, transfer_id, facts, &ruling)));
            decisions.lock().unwrap_or_else(PoisonError::into_inner).extend(decision);
            Ok(ruling.verdict)
        };
        // Cached: the rules are called once per batch for each pair.
        let transition = |status, event| {
            let mut known = transitions.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(next) = known.get(&(status, event)) {
                return Ok(*next);
            }
            ready("")?;
            let next = snapshot.transition(status, event).map_err(|error| no_verdict("", error))?;
            known.insert((status, event), next);
            Ok(next)
        };
        apply(state, commands, context, &Policy { decide: &decide, transition: &transition })
    };
    batch.keep(decisions.into_inner().unwrap_or_else(PoisonError::into_inner));
    batch.rules = snapshot.rules();
    (batch, outcomes)
}
