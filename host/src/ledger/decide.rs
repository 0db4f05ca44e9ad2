//! Runs [`apply`](mod@super::apply) with the rules component that serves at the moment, and keeps its decisions where
//! the host is told to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use super::apply::apply;
use super::batch::{Batch, Context, NoVerdict, Policy, State};
use super::queue::LedgerError;
use super::{Command, Outcome};
use crate::domain::model::ModelKind;
use crate::domain::rules::Facts;
use crate::models::decisions::Decision;
use crate::models::{Models, ScoreError};

/// Calls of the rules in one batch that may fail. Each may take its whole deadline, and a batch is decided without
/// a pause: rules that fail so often are not asked again by this batch, and what is left of it is not decided.
const RULES_FAILURES_MAX: usize = 3;

/// Decides a batch. One snapshot of the rules serves it whole: a swap takes effect between batches.
pub(super) async fn decide(
    models: &Models,
    state: &mut State,
    commands: &[Command],
    context: &Context,
) -> Result<(Batch, Vec<Outcome>), LedgerError> {
    let snapshot = models.snapshot();
    let decided = Mutex::new(Vec::new());
    let failures = AtomicUsize::new(0);
    let transitions = Mutex::new(BTreeMap::new());
    let no_verdict = |error: ScoreError| {
        failures.fetch_add(1, Relaxed);
        tracing::error!(error = &error as &dyn std::error::Error, "the transfer rules gave no usable answer");
        NoVerdict
    };
    let ready = || if failures.load(Relaxed) < RULES_FAILURES_MAX { Ok(()) } else { Err(NoVerdict) };
    let keeps = models.log().is_some();
    let outcome = {
        let decide = |transfer_id: Uuid, facts: &Facts| {
            ready()?;
            let verdict = snapshot.decide(facts).map_err(no_verdict)?;
            if keeps {
                let decision = (transfer_id, facts.clone(), verdict.clone());
                decided.lock().unwrap_or_else(PoisonError::into_inner).push(decision);
            }
            Ok(verdict)
        };
        let transition = |status, event| {
            // The same question has the same answer throughout a batch.
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
    // Before anything is moved: what cannot be kept is not done.
    if let Some((log, rules)) = models.log().zip(snapshot.identity(ModelKind::TransferRules)) {
        let version = &rules.version;
        let decided = decided.into_inner().unwrap_or_else(PoisonError::into_inner);
        let kept: Result<Vec<_>, _> =
            decided.iter().map(|(id, facts, verdict)| Decision::by_rules(version, *id, facts, verdict)).collect();
        log.append(kept?).await?;
    }
    Ok(outcome)
}
