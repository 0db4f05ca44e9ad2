//! Why a component did not load, and why a loaded one gave no usable answer.

use crate::domain::BadAnswer;
use crate::domain::model::ModelKind;

/// Why a component was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the WebAssembly engine does not start")]
    Engine(#[source] wasmtime::Error),
    #[error("the deadline clock does not start")]
    Clock(#[source] std::io::Error),
    /// Not a valid component, or one that uses disabled features.
    #[error("the bytes do not compile as a component within the limits")]
    Compile(#[source] wasmtime::Error),
    #[error("the component compiles to {bytes} bytes of machine code and memory images; at most {most} are allowed")]
    TooMuchCode { bytes: usize, most: usize },
    #[error("the component was built for {found}; this host supports {supported}")]
    UnknownMajor { found: String, supported: String },
    /// It imports something, or does not export its world.
    #[error("the component does not fit its world")]
    World(#[source] wasmtime::Error),
    /// Rules decide on money inside the ledger's batch, which cannot wait for a thread.
    #[error("transfer rules have to be pure: they may import nothing and have at most 1 MiB")]
    RulesNotPure,
    /// It needs or answers what this host does not have.
    #[error("{0}")]
    Manifest(String),
    /// The trial instance trapped or ran out of time.
    #[error("the component fails when it is started")]
    Trial(#[source] ScoreError),
    /// `describe` contradicts the kind under which it was loaded.
    #[error("the component describes itself as {kind} {version:?} instead of a {expected} with a version like 1.0.0")]
    Description { expected: ModelKind, kind: String, version: String },
}

/// Why a loaded component gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// No component of this kind is active.
    #[error("no model is loaded")]
    Missing,
    #[error("the model ran out of time")]
    TimedOut,
    #[error("all slots for instances are in use")]
    Busy,
    /// It trapped or exceeded a limit.
    #[error("the model trapped")]
    Trapped(#[source] wasmtime::Error),
    /// It refused a request that the host had validated.
    #[error("the model refused {field}: {code}")]
    Refused { field: String, code: String },
    /// It has too little to go by, which is not a failure.
    #[error("the model abstained: {0}")]
    Abstained(&'static str),
    /// The answer is out of range or contradicts itself.
    #[error("the model's answer is not usable")]
    BadAnswer(#[source] BadAnswer),
    #[error("the engine panicked")]
    Panicked,
    /// Its circuit breaker is open after repeated failures.
    #[error("the model failed too often")]
    Failing,
}

impl ScoreError {
    /// Whether the model is at fault rather than this host or its load.
    pub fn is_model_fault(&self) -> bool {
        !matches!(self, Self::Missing | Self::Busy | Self::Abstained(_))
    }
}
