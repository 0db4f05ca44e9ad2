//! The four kinds as typed calls.

use crate::domain::model::{ModelKind, PolicyClass};
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::domain::{BadAnswer, accessibility, nudge, risk};
use crate::wasm::engine::limits;
use crate::wasm::tenant::{Store, Tenant};
use crate::wasm::v1::bindings::{self, rules};
use crate::wasm::{Compiled, Description, Identity, LoadError, Runtime, ScoreError, call, identify};

/// Longest name of a field or code in a refusal; the longest real one has 31 characters.
const NAME_CHARS_MAX: usize = 40;

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
                Self::link(&runtime.compile(bytes)?)
            }

            /// Matches what was compiled against the world, tries an instance and asks what it is.
            ///
            /// # Errors
            /// See [`LoadError`].
            pub fn link(compiled: &Compiled) -> Result<Self, LoadError> {
                type Pre = $pre;
                let class = compiled.class();
                if $kind == ModelKind::TransferRules && class != PolicyClass::Pure {
                    return Err(LoadError::RulesNotPure);
                }
                let pre = Pre::new(compiled.link()?).map_err(LoadError::World)?;
                let time = limits(class).trial;
                let trial = |store: &mut Store| pre.instance_pre().instantiate(store).map(drop);
                call(pre.engine(), class, time, trial).map_err(LoadError::Trial)?;
                // Only an instance proves that the exports have the world's types.
                let described = call(pre.engine(), class, time, |store| {
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
                let identity = identify($kind, compiled, described)?;
                Ok(Self { pre, identity })
            }

            /// Runs one decision in an instance of its own.
            fn run<T: Send>(
                &self,
                body: impl FnOnce(&mut Store) -> wasmtime::Result<T> + Send,
            ) -> Result<T, ScoreError> {
                let class = self.identity.class;
                call(self.pre.engine(), class, limits(class).decision, body)
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
    bindings::risk::RiskScorerPre<Tenant>
);

component!(
    /// Decides on nudges.
    NudgeScorer,
    ModelKind::Nudge,
    bindings::nudge::NudgeScorerPre<Tenant>
);

component!(
    /// Recommends accessibility profiles.
    AccessibilityScorer,
    ModelKind::Accessibility,
    bindings::accessibility::AccessibilityScorerPre<Tenant>
);

component!(
    /// Decides whether transfers may be made.
    TransferRules,
    ModelKind::TransferRules,
    rules::TransferPolicyPre<Tenant>
);

/// The calls of a scorer: one request, or many in one instance; answers are checked.
macro_rules! scorer {
    ($name:ident, $interface:ident, $domain:ident, ($($by:tt)?)) => {
        impl $name {
            /// Scores one request.
            ///
            /// # Errors
            /// See [`ScoreError`].
            pub fn assess(&self, request: &$domain::Request) -> Result<$domain::Assessment, ScoreError> {
                let answer = self.run(|store| {
                    let instance = self.pre.instantiate(&mut *store)?;
                    instance.$interface().call_assess(store, $($by)? request.into())
                })?;
                let answer = answer.map_err(|invalid| refused(invalid.field, invalid.code))?;
                let assessment = $domain::Assessment::from(answer);
                assessment.check().map_err(ScoreError::BadAnswer)?;
                Ok(assessment)
            }

            /// Scores many requests in one instance, for backtests; answers are in the same order. An
            /// online decision gets an instance of its own: see [`Self::assess`].
            ///
            /// # Errors
            /// When the call as a whole fails. What is wrong with one answer stands in its place.
            pub fn assess_batch(
                &self,
                requests: &[$domain::Request],
            ) -> Result<Vec<Result<$domain::Assessment, ScoreError>>, ScoreError> {
                let requests: Vec<_> = requests.iter().map(Into::into).collect();
                let class = self.identity.class;
                let answers = call(self.pre.engine(), class, limits(class).batch, |store| {
                    let instance = self.pre.instantiate(&mut *store)?;
                    instance.$interface().call_assess_batch(store, &requests)
                })?;
                if answers.len() != requests.len() {
                    return Err(ScoreError::BadAnswer(BadAnswer("a batch has another number of answers")));
                }
                let checked = answers.into_iter().map(|answer| {
                    let answer = answer.map_err(|invalid| refused(invalid.field, invalid.code))?;
                    let assessment = $domain::Assessment::from(answer);
                    assessment.check().map_err(ScoreError::BadAnswer)?;
                    Ok(assessment)
                });
                Ok(checked.collect())
            }
        }
    };
}

scorer!(RiskScorer, caudal_scoring_risk, risk, ());
scorer!(NudgeScorer, caudal_scoring_nudge, nudge, (&));
scorer!(AccessibilityScorer, caudal_scoring_accessibility, accessibility, ());

impl TransferRules {
    /// Decides on one transfer; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        let answer = self.run(|store| {
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
        let answer = self.run(|store| {
            let instance = self.pre.instantiate(&mut *store)?;
            instance.caudal_scoring_transfer_rules().call_transition(store, status.as_str(), event.as_str())
        })?;
        let Some(next) = answer else { return Ok(None) };
        let known = Status::parse(&next).ok_or(BadAnswer("the status is unknown"));
        known.map(Some).map_err(ScoreError::BadAnswer)
    }
}

/// The component chose both texts, perhaps from what it was asked: only what could be a name is told.
fn refused(field: String, code: String) -> ScoreError {
    let name = |text: String| -> String {
        let is_of_a_name = |it: &char| it.is_ascii_lowercase() || "_-.".contains(*it);
        text.chars().filter(is_of_a_name).take(NAME_CHARS_MAX).collect()
    };
    ScoreError::Refused { field: name(field), code: name(code) }
}
