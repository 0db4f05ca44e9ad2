//! A loaded component, one type for each kind.
//!
//! Each kind has one world in each major version of the WIT package that supports it. [`Linked`] is the
//! only enum over them; callers outside this module never see which one a component was built for.

use wasmtime::component::InstancePre;

use crate::domain::BadAnswer;
use crate::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass, is_semantic_version};
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::wasm::call::call;
use crate::wasm::compiled::Compiled;
use crate::wasm::engine::Runtime;
use crate::wasm::error::{LoadError, ScoreError};
use crate::wasm::limits::limits;
use crate::wasm::tenant::{Store, Tenant};
use crate::wasm::v1;
use crate::wasm::wit::Major;
use crate::wasm::world::{Description, Invalid, Rules, Scorer, World};

pub type TransferRules = Component<v1::TransferRules>;

/// Longest summary of a component, in characters: one sentence.
const SUMMARY_CHARS_MAX: usize = 300;

/// Longest name of a field or code in a refusal, in characters; the longest real one has 31.
const NAME_CHARS_MAX: usize = 40;

/// A component linked against a world of its kind. Another major version is another variant here, with
/// a type parameter of its own.
enum Linked<V1> {
    V1(V1),
}

/// What identifies a loaded component.
#[derive(Debug, Clone)]
pub struct Identity {
    pub kind: ModelKind,
    pub version: ModelVersion,
    pub digest: Digest,
    pub class: PolicyClass,
    /// One sentence, from the component.
    pub summary: String,
}

/// A loaded component, which each decision instantiates afresh.
pub struct Component<V1> {
    linked: Linked<V1>,
    identity: Identity,
}

impl<V1: World> Linked<V1> {
    fn new(major: Major, pre: InstancePre<Tenant>) -> wasmtime::Result<Self> {
        match major {
            Major::V1 => V1::new(pre).map(Self::V1),
        }
    }

    fn pre(&self) -> &InstancePre<Tenant> {
        match self {
            Self::V1(world) => world.pre(),
        }
    }
}

impl<V1: World> Component<V1> {
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
        if V1::KIND == ModelKind::TransferRules && class != PolicyClass::Pure {
            return Err(LoadError::RulesNotPure);
        }
        let linked = Linked::<V1>::new(compiled.major()?, compiled.link()?).map_err(LoadError::World)?;
        let time = limits(class).trial;
        let engine = linked.pre().engine();
        let trial = |store: &mut Store| linked.pre().instantiate(store).map(drop);
        call(engine, class, time, trial).map_err(LoadError::Trial)?;
        // Types are only checked when an instance's exports are looked up.
        let description = call(engine, class, time, |store| match &linked {
            Linked::V1(world) => world.describe(store),
        });
        let description = description.map_err(|error| match error {
            ScoreError::Trapped(error) if !error.is::<wasmtime::Trap>() => LoadError::World(error),
            error => LoadError::Trial(error),
        })?;
        let identity = Identity::new(V1::KIND, compiled, description)?;
        Ok(Self { linked, identity })
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Runs one decision in an instance of its own.
    fn decision<T: Send>(&self, body: impl FnOnce(&mut Store) -> wasmtime::Result<T> + Send) -> Result<T, ScoreError> {
        let class = self.identity.class;
        call(self.linked.pre().engine(), class, limits(class).decision, body)
    }
}

impl<V1: Scorer> Component<V1> {
    /// Scores one request; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess(&self, request: &V1::Request) -> Result<V1::Assessment, ScoreError> {
        let answer = self.decision(|store| match &self.linked {
            Linked::V1(world) => world.assess(store, request),
        })?;
        checked::<V1>(answer)
    }

    /// Scores many requests in one instance, for backtests; answers are in the same order. An online
    /// decision gets an instance of its own: see [`Self::assess`].
    ///
    /// # Errors
    /// When the call as a whole fails. An unusable answer is an error in its place.
    pub fn assess_batch(
        &self,
        requests: &[V1::Request],
    ) -> Result<Vec<Result<V1::Assessment, ScoreError>>, ScoreError> {
        let class = self.identity.class;
        let answers = call(self.linked.pre().engine(), class, limits(class).batch, |store| match &self.linked {
            Linked::V1(world) => world.assess_batch(store, requests),
        })?;
        if answers.len() != requests.len() {
            return Err(ScoreError::BadAnswer(BadAnswer("a batch has the wrong number of answers")));
        }
        Ok(answers.into_iter().map(checked::<V1>).collect())
    }
}

fn checked<S: Scorer>(answer: Result<S::Assessment, Invalid>) -> Result<S::Assessment, ScoreError> {
    let assessment =
        answer.map_err(|invalid| ScoreError::Refused { field: name(&invalid.field), code: name(&invalid.code) })?;
    S::check(&assessment).map_err(ScoreError::BadAnswer)?;
    Ok(assessment)
}

/// The component chose the text, perhaps from personal data in the request: keeps only what a name may contain.
fn name(text: &str) -> String {
    let may_be_in_a_name = |it: &char| it.is_ascii_lowercase() || "_-.".contains(*it);
    text.chars().filter(may_be_in_a_name).take(NAME_CHARS_MAX).collect()
}

impl<V1: Rules> Component<V1> {
    /// Decides on one transfer; the answer is checked.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        let verdict = self.decision(|store| match &self.linked {
            Linked::V1(world) => world.decide(store, facts),
        })?;
        verdict.check().map_err(ScoreError::BadAnswer)?;
        Ok(verdict)
    }

    /// The status after a rail event, or `None` if the event does not apply.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        let next = self.decision(|store| match &self.linked {
            Linked::V1(world) => world.transition(store, status, event),
        })?;
        let Some(next) = next else { return Ok(None) };
        let known = Status::parse(&next).ok_or(BadAnswer("the status is unknown"));
        known.map(Some).map_err(ScoreError::BadAnswer)
    }
}

impl Identity {
    /// Checks a component's description of itself.
    fn new(expected: ModelKind, compiled: &Compiled, description: Description) -> Result<Self, LoadError> {
        let Description { kind, version, summary } = description;
        if kind != expected.as_str() || !is_semantic_version(&version) {
            return Err(LoadError::Description { expected, kind, version });
        }
        let (digest, class) = (compiled.digest(), compiled.class());
        let summary = summary.chars().filter(|it| !it.is_control()).take(SUMMARY_CHARS_MAX).collect();
        Ok(Self { kind: expected, version: ModelVersion::new(expected, &version, digest), digest, class, summary })
    }
}
