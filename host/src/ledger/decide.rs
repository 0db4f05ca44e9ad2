//! Runs [`apply`](mod@super::apply) with the active rules component, and records its decisions if the host is
//! configured to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use super::apply::apply;
use super::batch::{Batch, Context, NoVerdict, Policy, State};
use super::command::{Command, Outcome};
use super::job::LedgerError;
use crate::domain::model::ModelKind;
use crate::domain::rules::Facts;
use crate::models::decisions::Decision;
use crate::models::{Models, ScoreError};

/// Failed calls of the rules after which the rest of a batch stays undecided. Each failure may take a whole
/// deadline, and a batch blocks its thread.
const RULES_FAILURES_MAX: usize = 3;

/// Decides a batch with one snapshot of the rules: a swap takes effect between batches.
pub(super) async fn decide(
    models: &Models,
    state: &mut State,
    commands: &[Command],
    context: &Context,
) -> Result<(Batch, Vec<Outcome>), LedgerError> {
    let snapshot = models.snapshot();
    let decisions = Mutex::new(Vec::new());
    let failures = AtomicUsize::new(0);
    let transitions = Mutex::new(BTreeMap::new());
    let no_verdict = |error: ScoreError| {
        failures.fetch_add(1, Relaxed);
        tracing::error!(error = &error as &dyn std::error::Error, "the transfer rules gave no usable answer");
        NoVerdict
    };
    let ready = || if failures.load(Relaxed) < RULES_FAILURES_MAX { Ok(()) } else { Err(NoVerdict) };
    let is_recording = models.log().is_some();
    let outcome = {
        let decide = |transfer_id: Uuid, facts: &Facts| {
            ready()?;
            let verdict = snapshot.decide(facts).map_err(no_verdict)?;
            if is_recording {
                let decision = (transfer_id, facts.clone(), verdict.clone());
                decisions.lock().unwrap_or_else(PoisonError::into_inner).push(decision);
            }
            Ok(verdict)
        };
        // Cached: the rules are called once per batch for each pair.
        let transition = |status, event| {
            let mut known = transitions.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(next) = known.get(&(status, event)) {
                return Ok(*next);
            }
            ready()?;
            let next = snapshot.transition(status, event).map_err(no_verdict)?;
            known.insert((status, event), next);
            Ok(next)
        };
        apply(state, commands, context, &Policy { decide: &decide, transition: &transition })
    };
    // Recorded before any money moves: a decision that cannot be recorded is not executed.
    if let Some((log, rules)) = models.log().zip(snapshot.identity(ModelKind::TransferRules)) {
        let version = &rules.version;
        let decisions = decisions.into_inner().unwrap_or_else(PoisonError::into_inner);
        let records: Result<Vec<_>, _> =
            decisions.iter().map(|(id, facts, verdict)| Decision::by_rules(version, *id, facts, verdict)).collect();
        log.append(records?).await?;
    }
    Ok(outcome)
}
