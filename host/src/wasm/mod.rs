//! The fence around wasmtime: the only folder that names it.
//!
//! A component is loaded once (validated, compiled, matched against its world, instantiated once on
//! trial, asked what it is) and then called with domain types. Each decision gets a fresh instance
//! in a fresh store under a deadline and memory limits, so nothing survives a request and a trap
//! harms nobody else.
//!
//! There are two classes. Pure components import nothing, and a call takes microseconds: it is meant to
//! be made inline on a worker thread. Deny-all components bring a language's runtime and import WASI,
//! of which they get an empty one; a call takes milliseconds on a thread of its own, for which the caller
//! waits, so it is not to be made on a worker thread.

mod cache;
mod compiled;
mod deadline;
mod engine;
mod inspect;
mod portable;
mod tenant;
mod v1;
mod wasi;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::domain::BadAnswer;
use crate::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass, is_semantic_version};
use tenant::Store;

pub use cache::Cache;
pub use compiled::{Compiled, PURE_BYTES_MAX};
pub use engine::Runtime;
pub use inspect::Format;
pub use portable::{NotPortable, Portable};
pub use v1::scorers::{AccessibilityScorer, NudgeScorer, RiskScorer, TransferRules};

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
    /// It becomes more machine code than its class allows.
    #[error("the component becomes {bytes} bytes of machine code and memory images; at most {most} are allowed")]
    TooMuchCode {
        /// What it becomes.
        bytes: usize,
        /// What is allowed.
        most: usize,
    },
    /// It imports something, or does not export its world.
    #[error("the component does not fit its world")]
    World(#[source] wasmtime::Error),
    /// Transfer rules that import something or are large: they decide on money inside the ledger's batch.
    #[error("transfer rules have to be pure: they may import nothing and have at most 1 MiB")]
    RulesNotPure,
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
    /// It failed so often within a short time that it is not asked for a while.
    #[error("the model failed too often")]
    Failing,
}

impl ScoreError {
    /// Whether the model is to blame, and not this host or its load.
    pub fn is_the_models(&self) -> bool {
        !matches!(self, Self::Missing | Self::Busy)
    }
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
    /// How it is run.
    pub class: PolicyClass,
    /// One sentence, from the component.
    pub summary: String,
}

/// What `describe` says, whichever world it comes from.
struct Description {
    kind: String,
    version: String,
    summary: String,
}

/// Longest summary of a component, in characters: one sentence.
const SUMMARY_CHARS_MAX: usize = 300;

/// Checks what a component says of itself.
fn identify(expected: ModelKind, compiled: &Compiled, described: Description) -> Result<Identity, LoadError> {
    let Description { kind, version, summary } = described;
    if kind != expected.as_str() || !is_semantic_version(&version) {
        return Err(LoadError::Description { expected, kind, version });
    }
    let (digest, class) = (compiled.digest(), compiled.class());
    let summary = summary.chars().filter(|it| !it.is_control()).take(SUMMARY_CHARS_MAX).collect();
    Ok(Identity { kind: expected, version: ModelVersion::new(expected, &version, digest), digest, class, summary })
}

/// Deny-all calls at this moment, of which there are never more than slots for instances: the others wait.
static DENY_ALL_CALLS: (Mutex<u32>, Condvar) = (Mutex::new(0), Condvar::new());

/// A place among them, given back when it is dropped.
struct Turn;

impl Turn {
    fn wait() -> Self {
        let (running, changed) = &DENY_ALL_CALLS;
        let running = running.lock().unwrap_or_else(PoisonError::into_inner);
        let most = engine::DENY_ALL.slots;
        let running = changed.wait_while(running, |running| *running >= most);
        *running.unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (running, changed) = &DENY_ALL_CALLS;
        *running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        changed.notify_one();
    }
}

/// Bytes of stack of a thread of a deny-all call: what its wasm may use, and as much as any thread has.
const THREAD_STACK_BYTES: usize = 4 << 20;

/// Runs one call in a store of its own. Whatever happens, the store is dropped.
fn call<T: Send>(
    engine: &wasmtime::Engine,
    class: PolicyClass,
    time: Duration,
    body: impl FnOnce(&mut Store) -> wasmtime::Result<T> + Send,
) -> Result<T, ScoreError> {
    // The store never leaves this function, so no broken state can be seen after a panic.
    let run = move || {
        let called = catch_unwind(AssertUnwindSafe(|| {
            let mut store = tenant::store(engine, class, time);
            body(&mut store)
        }));
        match called {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) => Err(ScoreError::TimedOut),
            Ok(Err(error)) if error.is::<PoolConcurrencyLimitError>() => Err(ScoreError::Busy),
            Ok(Err(error)) => Err(ScoreError::Trapped(error)),
            Err(_) => Err(ScoreError::Panicked),
        }
    };
    match class {
        PolicyClass::Pure => run(),
        // What implements WASI blocks in an async runtime of its own, which must not be a worker's.
        PolicyClass::DenyAll => thread::scope(|scope| {
            let _turn = Turn::wait();
            let builder = thread::Builder::new().name("deny-all".to_owned()).stack_size(THREAD_STACK_BYTES);
            let Ok(thread) = builder.spawn_scoped(scope, run) else { return Err(ScoreError::Busy) };
            thread.join().unwrap_or(Err(ScoreError::Panicked))
        }),
    }
}
