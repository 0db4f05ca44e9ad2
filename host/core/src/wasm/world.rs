//! What a contract implements for each kind: its calls, in domain types.

use wasmtime::Result;
use wasmtime::component::InstancePre;

use crate::decision::Ruling;
use crate::domain::BadAnswer;
use crate::domain::fact::explanation::Explanation;
use crate::domain::fact::manifest::{Claims, Manifest};
use crate::domain::model::ModelKind;
use crate::domain::rules::Facts;
use crate::domain::transfer::{RailEvent, Status};
use crate::wasm::tenant::{Store, Tenant};

/// The answer of `describe`.
pub struct Description {
    pub kind: String,
    pub version: String,
    pub summary: String,
    /// In contract 1, the host passes all facts.
    pub(super) claims: Option<Claims>,
}

/// Why a component gave no answer.
pub enum Unanswered {
    /// It refused the request.
    Invalid { field: String, code: String },
    /// It has too little to go by.
    Abstained(&'static str),
    /// Its answer means nothing.
    Bad(BadAnswer),
}

/// A world of one kind. Each call makes an instance of its own in the given store.
pub trait World: Sized + Send + Sync {
    const KIND: ModelKind;

    /// The interface of the world that decides, with its version.
    const INTERFACE: &str;

    /// Matches exports against the world, by name.
    fn new(pre: InstancePre<Tenant>) -> Result<Self>;

    fn pre(&self) -> &InstancePre<Tenant>;

    fn describe(&self, store: &mut Store) -> Result<Description>;

    /// Takes note of what the component needs. Returns the manifest of a risk model.
    ///
    /// # Errors
    /// What this host does not have, by name.
    fn bind(&mut self, _: &Claims) -> std::result::Result<Option<Manifest>, String> {
        Ok(None)
    }
}

/// A world that scores requests.
pub trait Scorer: World {
    type Request: Sync;
    type Assessment: Send;

    fn assess(&self, store: &mut Store, request: &Self::Request) -> Result<Answer<Self>>;

    fn assess_batch(&self, store: &mut Store, requests: &[Self::Request]) -> Result<Vec<Answer<Self>>>;

    /// Whether the assessment is in range and does not contradict itself.
    fn check(&self, assessment: &Self::Assessment) -> std::result::Result<(), BadAnswer>;

    /// What weighed how much; `None` for kinds that do not say.
    fn explain(&self, _: &mut Store, _: &Self::Request) -> Result<Option<Explanation>> {
        Ok(None)
    }
}

pub(super) type Answer<S> = std::result::Result<<S as Scorer>::Assessment, Unanswered>;

/// A world that decides on transfers.
pub trait Rules: World {
    fn decide(&self, store: &mut Store, facts: &Facts) -> Result<std::result::Result<Ruling, BadAnswer>>;

    /// The name of the next status.
    fn transition(&self, store: &mut Store, status: Status, event: RailEvent) -> Result<Option<String>>;
}

/// A world in the contract that a component was built for: the later one, if it exports both.
pub enum Either<V1, V2> {
    V1(V1),
    V2(V2),
}

impl<V1: World, V2: World> World for Either<V1, V2> {
    const KIND: ModelKind = V2::KIND;
    const INTERFACE: &str = V2::INTERFACE;

    fn new(pre: InstancePre<Tenant>) -> Result<Self> {
        match pre.component().get_export_index(None, V2::INTERFACE) {
            Some(_) => V2::new(pre).map(Self::V2),
            None => V1::new(pre).map(Self::V1),
        }
    }

    fn pre(&self) -> &InstancePre<Tenant> {
        match self {
            Self::V1(world) => world.pre(),
            Self::V2(world) => world.pre(),
        }
    }

    fn describe(&self, store: &mut Store) -> Result<Description> {
        match self {
            Self::V1(world) => world.describe(store),
            Self::V2(world) => world.describe(store),
        }
    }

    fn bind(&mut self, claims: &Claims) -> std::result::Result<Option<Manifest>, String> {
        match self {
            Self::V1(world) => world.bind(claims),
            Self::V2(world) => world.bind(claims),
        }
    }
}

impl<V1: Scorer, V2: Scorer<Request = V1::Request, Assessment = V1::Assessment>> Scorer for Either<V1, V2> {
    type Request = V1::Request;
    type Assessment = V1::Assessment;

    fn assess(&self, store: &mut Store, request: &V1::Request) -> Result<Answer<Self>> {
        match self {
            Self::V1(world) => world.assess(store, request),
            Self::V2(world) => world.assess(store, request),
        }
    }

    fn assess_batch(&self, store: &mut Store, requests: &[V1::Request]) -> Result<Vec<Answer<Self>>> {
        match self {
            Self::V1(world) => world.assess_batch(store, requests),
            Self::V2(world) => world.assess_batch(store, requests),
        }
    }

    fn check(&self, assessment: &V1::Assessment) -> std::result::Result<(), BadAnswer> {
        match self {
            Self::V1(world) => world.check(assessment),
            Self::V2(world) => world.check(assessment),
        }
    }

    fn explain(&self, store: &mut Store, request: &V1::Request) -> Result<Option<Explanation>> {
        match self {
            Self::V1(world) => world.explain(store, request),
            Self::V2(world) => world.explain(store, request),
        }
    }
}

impl<V1: Rules, V2: Rules> Rules for Either<V1, V2> {
    fn decide(&self, store: &mut Store, facts: &Facts) -> Result<std::result::Result<Ruling, BadAnswer>> {
        match self {
            Self::V1(world) => world.decide(store, facts),
            Self::V2(world) => world.decide(store, facts),
        }
    }

    fn transition(&self, store: &mut Store, status: Status, event: RailEvent) -> Result<Option<String>> {
        match self {
            Self::V1(world) => world.transition(store, status, event),
            Self::V2(world) => world.transition(store, status, event),
        }
    }
}
