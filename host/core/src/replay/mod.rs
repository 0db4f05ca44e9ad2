//! Runs kept decisions again, on the versions that made them or on others.

pub mod components;
pub mod run;
pub mod what_if;

use serde::Serialize;
use sqlx::PgPool;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::decision::{Decision, RiskOutcome, RulesOutcome};
use crate::domain::model::ModelKind;
use crate::models::LoadedComponent;
use crate::scoring::{Risk, Scorer};
use crate::wasm::{Runtime, ScoreError};
use components::Components;

/// Replays at once on a host: each takes a processor for seconds.
pub const CONCURRENT_MAX: usize = 2;

/// Requests of one call: their answers fit into what a call may return.
const ROWS_MAX: usize = 256;

/// The outcome of a replay.
#[derive(Debug, Default, Serialize)]
pub struct ReplayOutcome {
    pub replayed: usize,
    /// Decisions whose answer was the same, byte for byte.
    pub equal: usize,
    pub different: Vec<Mismatch>,
}

/// A decision whose answer is another one, or that cannot be made again.
#[derive(Debug, Serialize)]
pub struct Mismatch {
    /// From 0.
    pub index: usize,
    /// The transfer or hold that was decided on.
    pub id: Uuid,
    /// Why there is no answer, or what it was and is.
    pub differences: Vec<String>,
}

/// Replays decisions, and loads the components that made them.
pub struct Replayer {
    components: Components,
    outcome: ReplayOutcome,
}

impl Replayer {
    pub fn new(db: PgPool, runtime: Runtime) -> Self {
        Self { components: Components::new(db, runtime), outcome: ReplayOutcome::default() }
    }

    /// Replays more decisions.
    ///
    /// # Errors
    /// When the database fails. A decision that cannot be replayed is a mismatch.
    pub async fn replay(&mut self, decisions: Vec<Decision>) -> Result<(), sqlx::Error> {
        let mut rest = &decisions[..];
        while let Some(first) = rest.first() {
            // Those of one version take one call.
            let (kind, digest) = (first.by.kind, first.by.digest);
            let is_same = |it: &&Decision| (it.by.kind, it.by.digest) == (kind, digest);
            let (same, others) = rest.split_at(rest.iter().take_while(is_same).count());
            rest = others;
            let again = match self.components.find(kind, digest).await? {
                None => vec![
                    Err(format!("no component with the digest {digest} is registered, or it does not load"));
                    same.len()
                ],
                Some(component) => {
                    let same = same.to_vec();
                    // Some components take milliseconds, which would block a worker thread.
                    let panicked = vec![Err("the replay panicked".to_owned()); same.len()];
                    spawn_blocking(move || answers(&component, &same)).await.unwrap_or(panicked)
                }
            };
            for (decision, again) in same.iter().zip(again) {
                self.compare(decision, again);
            }
        }
        Ok(())
    }

    fn compare(&mut self, decision: &Decision, again: Result<Vec<u8>, String>) {
        let index = self.outcome.replayed;
        self.outcome.replayed += 1;
        let difference = match again {
            Ok(answer) if answer == decision.answer => {
                self.outcome.equal += 1;
                return;
            }
            Ok(answer) => format!("was {} and is {}", shown(decision, &decision.answer), shown(decision, &answer)),
            Err(reason) => reason,
        };
        self.outcome.different.push(Mismatch { index, id: decision.subject, differences: vec![difference] });
    }

    pub fn finish(self) -> ReplayOutcome {
        self.outcome
    }
}

/// Their own answers to what they were asked, in bytes.
pub fn answers(component: &LoadedComponent, decisions: &[Decision]) -> Vec<Result<Vec<u8>, String>> {
    let bytes = |answer: Result<Vec<u8>, ScoreError>| answer.map_err(|error| format!("no answer: {error}"));
    if let LoadedComponent::Rules(rules) = component {
        let answer = |it: &Decision| Ok(RulesOutcome::of(&rules.component.rule(&it.rules_facts())?).to_bytes());
        return decisions.iter().map(|it| bytes(answer(it))).collect();
    }
    match component.model::<Risk>() {
        Some(model) => {
            let answers = outcomes(&model.scorer, decisions).into_iter();
            answers.map(|it| bytes(it.map(|it| it.to_bytes()))).collect()
        }
        None => vec![Err("no such decision is kept".to_owned()); decisions.len()],
    }
}

/// What a risk model says to requests of decisions, in one call.
fn outcomes(scorer: &Scorer<Risk>, decisions: &[Decision]) -> Vec<Result<RiskOutcome, ScoreError>> {
    let answers = decisions.chunks(ROWS_MAX).flat_map(|chunk| {
        let requests: Vec<_> = chunk.iter().map(Decision::request).collect();
        // One request that traps must not take the others with it.
        let each = |_| requests.iter().map(|request| scorer.assess(request)).collect();
        scorer.assess_batch(&requests).unwrap_or_else(each)
    });
    let outcome = |answer| match answer {
        Ok(answer) => Ok(RiskOutcome::of(&answer)),
        Err(ScoreError::Abstained(reason)) => Ok(RiskOutcome::abstained(reason)),
        Err(error) => Err(error),
    };
    answers.map(outcome).collect()
}

/// For people.
fn shown(decision: &Decision, answer: &[u8]) -> String {
    let decision = Decision { answer: answer.to_vec(), ..decision.clone() };
    match decision.by.kind {
        ModelKind::Risk => decision.risk().map(|it| format!("{it:?}")),
        _ => decision.ruling().map(|it| format!("{it:?}")),
    }
    .unwrap_or_else(|| "unreadable".to_owned())
}
