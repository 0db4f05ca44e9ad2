//! The fence around wasmtime: the only folder that names it.
//!
//! A component is loaded once (validated, compiled, matched against its world, instantiated once on
//! trial, asked what it is) and then called with domain types. Each decision gets a fresh instance
//! in a fresh store under a deadline and memory limits, so nothing survives a request and a trap
//! harms nobody else. First-party components import nothing; the linker is empty.
//!
//! Calls are synchronous and meant to be made inline on a worker thread: they take microseconds.

mod bindings;
mod convert;
mod engine;
mod inspect;
mod scorers;

use std::panic::{AssertUnwindSafe, catch_unwind};

use sha2::{Digest as _, Sha256};
use wasmtime::component::{Component, Linker};
use wasmtime::{PoolConcurrencyLimitError, StoreLimits, Trap};

use crate::domain::BadAnswer;
use crate::domain::model::{Digest, ModelKind, ModelVersion, is_semantic_version};

pub use engine::Runtime;
pub use inspect::{Format, Interface};
pub use scorers::{AccessibilityScorer, NudgeScorer, RiskScorer, TransferRules};

/// Why a component was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The engine does not start on this machine.
    #[error("the WebAssembly engine does not start")]
    Engine(#[source] wasmtime::Error),
    /// The deadline clock's thread does not start.
    #[error("the deadline clock does not start")]
    Thread(#[source] std::io::Error),
    /// Not a valid component, or one with features that are switched off.
    #[error("the bytes do not compile as a component within the limits")]
    Compile(#[source] wasmtime::Error),
    /// It imports something, or does not export its world.
    #[error("the component does not fit its world")]
    World(#[source] wasmtime::Error),
    /// The trial instance trapped or ran out of time.
    #[error("the component fails when it is started")]
    Trial(#[source] ScoreError),
    /// It says of itself that it is something else.
    #[error("the component describes itself as {kind} {version:?} instead of a {expected} with a version like 1.0.0")]
    Description {
        /// What it should be.
        expected: ModelKind,
        /// What it says.
        kind: String,
        /// What it says.
        version: String,
    },
}

/// Why a loaded component gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// No component of this kind is active.
    #[error("no model is loaded")]
    Missing,
    /// The deadline passed.
    #[error("the model ran out of time")]
    TimedOut,
    /// As many decisions as there are slots are being made at this moment.
    #[error("all slots for instances are in use")]
    Busy,
    /// It trapped or hit a limit.
    #[error("the model trapped")]
    Trapped(#[source] wasmtime::Error),
    /// It refused input that the host had accepted.
    #[error("the model refused {field}: {code}")]
    Refused {
        /// The field it named.
        field: String,
        /// Its code.
        code: String,
    },
    /// It answered what no correct model answers.
    #[error("the model's answer is not usable")]
    BadAnswer(#[source] BadAnswer),
    /// The engine itself panicked.
    #[error("the engine panicked")]
    Panicked,
}

/// Who a loaded component is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// What for.
    pub kind: ModelKind,
    /// As shown with each answer.
    pub version: ModelVersion,
    /// Of the bytes.
    pub digest: Digest,
    /// One sentence, from the component.
    pub summary: String,
}

type Store = wasmtime::Store<StoreLimits>;

/// What `describe` says, whichever world it comes from.
struct Description {
    kind: String,
    version: String,
    summary: String,
}

/// Validates, compiles and links against nothing.
fn prepare(runtime: &Runtime, bytes: &[u8]) -> Result<wasmtime::component::InstancePre<StoreLimits>, LoadError> {
    let component = Component::from_binary(runtime.engine(), bytes).map_err(LoadError::Compile)?;
    component.initialize_copy_on_write_image().map_err(LoadError::Compile)?;
    Linker::new(runtime.engine()).instantiate_pre(&component).map_err(LoadError::World)
}

/// Checks what a component says of itself.
fn identify(expected: ModelKind, bytes: &[u8], described: Description) -> Result<Identity, LoadError> {
    let Description { kind, version, summary } = described;
    if kind != expected.as_str() || !is_semantic_version(&version) {
        return Err(LoadError::Description { expected, kind, version });
    }
    let digest = Digest(Sha256::digest(bytes).into());
    Ok(Identity { kind: expected, version: ModelVersion::new(expected, &version, digest), digest, summary })
}

/// Runs one decision in a store of its own. Whatever happens, the store is dropped.
fn decide<T>(
    engine: &wasmtime::Engine,
    decision: impl FnOnce(&mut Store) -> wasmtime::Result<T>,
) -> Result<T, ScoreError> {
    decide_within(engine::DEADLINE_TICKS, engine, decision)
}

fn decide_within<T>(
    ticks: u64,
    engine: &wasmtime::Engine,
    decision: impl FnOnce(&mut Store) -> wasmtime::Result<T>,
) -> Result<T, ScoreError> {
    let run = || {
        let mut store = engine::limited_store(engine, ticks);
        decision(&mut store)
    };
    // The store never leaves this function, so no broken state can be seen after a panic.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) => Err(ScoreError::TimedOut),
        Ok(Err(error)) if error.is::<PoolConcurrencyLimitError>() => Err(ScoreError::Busy),
        Ok(Err(error)) => Err(ScoreError::Trapped(error)),
        Err(_) => Err(ScoreError::Panicked),
    }
}
