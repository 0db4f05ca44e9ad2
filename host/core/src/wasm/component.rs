//! A loaded component, one type for each kind.
//!
//! Each kind has one world in each contract that supports it. Callers outside this module never see for which one a
//! component was built.

use std::sync::Arc;

use crate::decision::Ruling;
use crate::domain::BadAnswer;
use crate::domain::fact::explanation::Explanation;
use crate::domain::fact::manifest::Manifest;
use crate::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass, is_semantic_version};
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::wasm::call::call;
use crate::wasm::compiled::Compiled;
use crate::wasm::engine::Runtime;
use crate::wasm::error::{LoadError, ScoreError};
use crate::wasm::limits::limits;
use crate::wasm::tenant::Store;
use crate::wasm::world::{Answer, Description, Rules, Scorer, Unanswered, World};

/// Longest summary of a component, in characters: one sentence.
const SUMMARY_CHARS_MAX: usize = 300;

/// Longest name of a field or code in a refusal, in characters; the longest real one has 31.
const NAME_CHARS_MAX: usize = 40;

/// What identifies a loaded component.
#[derive(Debug, Clone)]
pub struct Identity {
    pub kind: ModelKind,
    pub version: ModelVersion,
    pub digest: Digest,
    pub class: PolicyClass,
    /// One sentence, from the component.
    pub summary: String,
    /// Of risk models. In contract 1, every component gets the same facts.
    pub manifest: Option<Arc<Manifest>>,
}

/// A loaded component, which each decision instantiates afresh.
pub struct Component<W> {
    world: W,
    identity: Identity,
}

impl<W: World> Component<W> {
    /// Compiles and links a component. Takes tens of milliseconds.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(runtime: &Runtime, bytes: &[u8]) -> Result<Self, LoadError> {
        Self::link(&runtime.compile(bytes)?)
    }

    /// Matches a compiled component against its world, instantiates it as a trial and asks for its
    /// description.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn link(compiled: &Compiled) -> Result<Self, LoadError> {
        let class = compiled.class();
        if W::KIND == ModelKind::TransferRules && class != PolicyClass::Pure {
            return Err(LoadError::RulesNotPure);
        }
        compiled.kind()?;
        let mut world = W::new(compiled.link()?).map_err(LoadError::World)?;
        let time = limits(class).trial;
        let engine = world.pre().engine();
        let fuel = |store: &mut Store| if compiled.counts_fuel { store.set_fuel(u64::MAX) } else { Ok(()) };
        let trial = |store: &mut Store| fuel(store).and_then(|()| world.pre().instantiate(store).map(drop));
        call(engine, class, time, trial).map_err(LoadError::Trial)?;
        // Types are only checked when an instance's exports are looked up.
        let description = call(engine, class, time, |store| fuel(store).and_then(|()| world.describe(store)));
        let mut description = description.map_err(|error| match error {
            ScoreError::Trapped(error) if !error.is::<wasmtime::Trap>() => LoadError::World(error),
            error => LoadError::Trial(error),
        })?;
        let claims = description.claims.take();
        let manifest = claims.map(|claims| world.bind(&claims)).transpose().map_err(LoadError::Manifest)?.flatten();
        let identity = Identity::new(W::KIND, compiled, description, manifest.map(Arc::new))?;
        Ok(Self { world, identity })
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Runs one decision in an instance of its own.
    fn decision<T: Send>(&self, body: impl FnOnce(&mut Store) -> wasmtime::Result<T> + Send) -> Result<T, ScoreError> {
        let class = self.identity.class;
        call(self.world.pre().engine(), class, limits(class).decision, body)
    }
}

impl<W: Scorer> Component<W> {
    /// Scores one request; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess(&self, request: &W::Request) -> Result<W::Assessment, ScoreError> {
        let answer = self.decision(|store| self.world.assess(store, request))?;
        self.checked(answer)
    }

    /// What a request costs, in instructions, on a runtime that counts them.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(crate) fn fuel(&self, request: &W::Request) -> Result<u64, ScoreError> {
        let class = self.identity.class;
        let spend = |store: &mut Store| {
            store.set_fuel(u64::MAX)?;
            // What it answers does not matter here.
            let _ = self.world.assess(store, request)?;
            Ok(u64::MAX - store.get_fuel()?)
        };
        call(self.world.pre().engine(), class, limits(class).batch, spend)
    }

    /// What weighed how much in the score of a request; `None` if the component does not say. Takes milliseconds.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn explain(&self, request: &W::Request) -> Result<Option<Explanation>, ScoreError> {
        let class = self.identity.class;
        let explain = |store: &mut Store| self.world.explain(store, request);
        let explanation = call(self.world.pre().engine(), class, limits(class).batch, explain)?;
        explanation.iter().try_for_each(Explanation::check).map_err(ScoreError::BadAnswer)?;
        Ok(explanation)
    }

    /// Scores many requests in one instance, for backtests; answers are in the same order. An online
    /// decision gets an instance of its own: see [`Self::assess`].
    ///
    /// # Errors
    /// When the call as a whole fails. An unusable answer is an error in its place.
    pub fn assess_batch(&self, requests: &[W::Request]) -> Result<Vec<Result<W::Assessment, ScoreError>>, ScoreError> {
        let class = self.identity.class;
        let batch = |store: &mut Store| self.world.assess_batch(store, requests);
        let answers = call(self.world.pre().engine(), class, limits(class).batch, batch)?;
        if answers.len() != requests.len() {
            return Err(ScoreError::BadAnswer(BadAnswer("a batch has the wrong number of answers")));
        }
        Ok(answers.into_iter().map(|answer| self.checked(answer)).collect())
    }

    fn checked(&self, answer: Answer<W>) -> Result<W::Assessment, ScoreError> {
        let assessment = answer.map_err(|unanswered| match unanswered {
            Unanswered::Invalid { field, code } => ScoreError::Refused { field: name(&field), code: name(&code) },
            Unanswered::Abstained(reason) => ScoreError::Abstained(reason),
            Unanswered::Bad(answer) => ScoreError::BadAnswer(answer),
        })?;
        self.world.check(&assessment).map_err(ScoreError::BadAnswer)?;
        Ok(assessment)
    }
}

/// The component chose the text, perhaps from personal data in the request: keeps only what a name may contain.
fn name(text: &str) -> String {
    let may_be_in_a_name = |it: &char| it.is_ascii_lowercase() || "_-.".contains(*it);
    text.chars().filter(may_be_in_a_name).take(NAME_CHARS_MAX).collect()
}

impl<W: Rules> Component<W> {
    /// Decides on one transfer; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        let ruling = self.decision(|store| self.world.decide(store, facts))?.map_err(ScoreError::BadAnswer)?;
        ruling.verdict.check().map_err(ScoreError::BadAnswer)?;
        Ok(ruling)
    }

    /// As [`Self::rule`], without the component's own answer.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        Ok(self.rule(facts)?.verdict)
    }

    /// The status after a rail event, or `None` if the event does not apply.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        let next = self.decision(|store| self.world.transition(store, status, event))?;
        let Some(next) = next else { return Ok(None) };
        let known = Status::parse(&next).ok_or(BadAnswer("the status is unknown"));
        known.map(Some).map_err(ScoreError::BadAnswer)
    }
}

impl Identity {
    /// Checks a component's description of itself.
    fn new(
        expected: ModelKind,
        compiled: &Compiled,
        description: Description,
        manifest: Option<Arc<Manifest>>,
    ) -> Result<Self, LoadError> {
        let Description { kind, version, summary, .. } = description;
        if kind != expected.as_str() || !is_semantic_version(&version) {
            return Err(LoadError::Description { expected, kind, version });
        }
        let (digest, class) = (compiled.digest(), compiled.class());
        let summary = summary.chars().filter(|it| !it.is_control()).take(SUMMARY_CHARS_MAX).collect();
        Ok(Self {
            kind: expected,
            version: ModelVersion::new(expected, &version, digest),
            digest,
            class,
            summary,
            manifest,
        })
    }
}
