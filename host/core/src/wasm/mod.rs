//! The boundary around wasmtime: the only module that names it.
//!
//! A component is loaded once (validated, compiled, matched against its world, instantiated as a trial,
//! asked for its description) and then called with domain types. Each decision gets a fresh instance
//! in a fresh store under a deadline and memory limits, so no state survives a request and a trap
//! affects nothing else.
//!
//! There are two classes. Pure components import nothing, and a call takes microseconds: make it
//! inline, on a worker thread. Deny-all components contain a language runtime and import WASI, and
//! get an empty one; a call takes milliseconds on a dedicated thread and blocks its caller,
//! so it must not be made on a worker thread.
//!
//! `v1` and `v2` hold what depends on a contract; `component` has one type for each kind, whatever contract its component was
//! built for.

mod cache;
mod call;
mod compiled;
mod component;
mod deadline;
mod engine;
mod error;
mod export;
mod format;
mod limits;
mod portable;
mod tenant;
mod v1;
mod v2;
mod wasi;
mod wit;
mod world;

pub use cache::Cache;
pub use compiled::{Compiled, digest_of};
pub use component::{Component, Identity};
pub(crate) use deadline::processor_time;
pub use engine::Runtime;
pub use error::{LoadError, ScoreError};
pub use format::Format;
pub use limits::PURE_BYTES_MAX;
pub use portable::{NotPortable, Portable};
pub use wit::{RISK_2, WIT};
pub use world::Scorer as ScorerWorld;

pub(crate) use v1::{Accessibility, Nudge};
pub(crate) type Risk = world::Either<v1::Risk, v2::Risk>;
pub type TransferRules = Component<world::Either<v1::TransferRules, v2::TransferRules>>;
