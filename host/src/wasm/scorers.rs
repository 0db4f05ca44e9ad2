//! The four kinds as typed calls.

use super::bindings::{accessibility as a11y, nudge, risk, rules};
use super::engine::TRIAL_TICKS;
use super::{Description, Identity, LoadError, Runtime, ScoreError, Store, decide, decide_within, identify, prepare};
use crate::domain::model::ModelKind;
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::domain::{BadAnswer, accessibility, nudge as nudge_domain, risk as risk_domain};

/// A loaded component: how to make an instance of it, and who it is.
macro_rules! component {
    ($(#[$meta:meta])* $name:ident, $kind:expr, $pre:path) => {
        $(#[$meta])*
        pub struct $name {
            pre: $pre,
            identity: Identity,
        }

        impl $name {
            /// Loads the component, or says why not. Compiling takes tens of milliseconds.
            ///
            /// # Errors
            /// See [`LoadError`].
            pub fn load(runtime: &Runtime, bytes: &[u8]) -> Result<Self, LoadError> {
                type Pre = $pre;
                let pre = Pre::new(prepare(runtime, bytes)?).map_err(LoadError::World)?;
                let trial = |store: &mut Store| pre.instance_pre().instantiate(store).map(drop);
                decide_within(TRIAL_TICKS, pre.engine(), trial).map_err(LoadError::Trial)?;
                // Only an instance proves that the exports have the world's types.
                let described = decide_within(TRIAL_TICKS, pre.engine(), |store| {
                    let instance = pre.instantiate(&mut *store)?;
                    let description = instance.caudal_scoring_model().call_describe(store)?;
                    Ok(Description {
                        kind: description.kind,
                        version: description.version,
                        summary: description.summary,
                    })
                });
                let described = described.map_err(|error| match error {
                    ScoreError::Trapped(error) if !error.is::<wasmtime::Trap>() => LoadError::World(error),
                    error => LoadError::Trial(error),
                })?;
                let identity = identify($kind, bytes, described)?;
                Ok(Self { pre, identity })
            }

            /// Who this is.
            pub fn identity(&self) -> &Identity {
                &self.identity
            }
        }
    };
}

component!(
    /// Scores transfers.
    RiskScorer,
    ModelKind::Risk,
    risk::RiskScorerPre<wasmtime::StoreLimits>
);

component!(
    /// Decides on nudges.
    NudgeScorer,
    ModelKind::Nudge,
    nudge::NudgeScorerPre<wasmtime::StoreLimits>
);

component!(
    /// Recommends accessibility profiles.
    AccessibilityScorer,
    ModelKind::Accessibility,
    a11y::AccessibilityScorerPre<wasmtime::StoreLimits>
);

component!(
    /// Decides whether transfers may be made.
    TransferRules,
    ModelKind::TransferRules,
    rules::TransferPolicyPre<wasmtime::StoreLimits>
);

impl RiskScorer {
    /// Scores one transfer; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess(&self, request: &risk_domain::Request) -> Result<risk_domain::Assessment, ScoreError> {
        let answer = decide(self.pre.engine(), |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            instance.caudal_scoring_risk().call_assess(store, request.into())
        })?;
        let assessment = risk_domain::Assessment::from(answer.map_err(|invalid| refused(invalid.field, invalid.code))?);
        assessment.check().map_err(ScoreError::BadAnswer)?;
        Ok(assessment)
    }
}

impl NudgeScorer {
    /// Decides on one screen; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess(&self, request: &nudge_domain::Request) -> Result<nudge_domain::Assessment, ScoreError> {
        let answer = decide(self.pre.engine(), |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            instance.caudal_scoring_nudge().call_assess(store, &request.into())
        })?;
        let assessment =
            nudge_domain::Assessment::from(answer.map_err(|invalid| refused(invalid.field, invalid.code))?);
        assessment.check().map_err(ScoreError::BadAnswer)?;
        Ok(assessment)
    }
}

impl AccessibilityScorer {
    /// Recommends for one person; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess(&self, request: &accessibility::Request) -> Result<accessibility::Assessment, ScoreError> {
        let answer = decide(self.pre.engine(), |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            instance.caudal_scoring_accessibility().call_assess(store, request.into())
        })?;
        let assessment =
            accessibility::Assessment::from(answer.map_err(|invalid| refused(invalid.field, invalid.code))?);
        assessment.check().map_err(ScoreError::BadAnswer)?;
        Ok(assessment)
    }
}

impl TransferRules {
    /// Decides on one transfer; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        let answer = decide(self.pre.engine(), |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            instance.caudal_scoring_transfer_rules().call_decide(store, &facts.into())
        })?;
        let verdict = Verdict::from(answer);
        verdict.check().map_err(ScoreError::BadAnswer)?;
        Ok(verdict)
    }

    /// The status after an event, or none when the event does not apply.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        let answer = decide(self.pre.engine(), |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            instance.caudal_scoring_transfer_rules().call_transition(store, status.as_str(), event.as_str())
        })?;
        let Some(next) = answer else { return Ok(None) };
        let known = Status::parse(&next).ok_or(BadAnswer("the status is unknown"));
        known.map(Some).map_err(ScoreError::BadAnswer)
    }
}

fn refused(field: String, code: String) -> ScoreError {
    ScoreError::Refused { field, code }
}
