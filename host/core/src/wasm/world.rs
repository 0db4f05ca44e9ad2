//! What a major version of the WIT package implements for each kind: its calls, in domain types.

use wasmtime::Result;
use wasmtime::component::InstancePre;

use crate::domain::BadAnswer;
use crate::domain::model::ModelKind;
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::wasm::tenant::{Store, Tenant};

/// The answer of `describe`.
pub struct Description {
    pub kind: String,
    pub version: String,
    pub summary: String,
}

/// A request that the component refused.
pub struct Invalid {
    pub field: String,
    pub code: String,
}

/// A world of one kind. Each call makes an instance of its own in the given store.
pub trait World: Sized + Send + Sync {
    const KIND: ModelKind;

    /// Matches exports against the world, by name.
    fn new(pre: InstancePre<Tenant>) -> Result<Self>;

    fn pre(&self) -> &InstancePre<Tenant>;

    fn describe(&self, store: &mut Store) -> Result<Description>;
}

/// A world that scores requests.
pub trait Scorer: World {
    type Request: Sync;
    type Assessment: Send;

    fn assess(&self, store: &mut Store, request: &Self::Request) -> Result<Answer<Self>>;

    fn assess_batch(&self, store: &mut Store, requests: &[Self::Request]) -> Result<Vec<Answer<Self>>>;

    /// Whether the assessment is in range and does not contradict itself.
    fn check(assessment: &Self::Assessment) -> std::result::Result<(), BadAnswer>;
}

pub(super) type Answer<S> = std::result::Result<<S as Scorer>::Assessment, Invalid>;

/// A world that decides on transfers.
pub trait Rules: World {
    fn decide(&self, store: &mut Store, facts: &Facts) -> Result<Verdict>;

    /// The name of the next status.
    fn transition(&self, store: &mut Store, status: Status, event: RailEvent) -> Result<Option<String>>;
}
