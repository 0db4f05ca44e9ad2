//! Which version of each component answers.
//!
//! An immutable [`Registry`] holds the versions in service, and [`Models`] points at the current one. A
//! request takes one [`Snapshot`] and uses it throughout, so its answers are consistent.
//!
//! [`serving`] routes requests to versions, [`observing`] compares versions afterwards, [`deploying`] changes what is
//! in service, [`outcomes`] compares decisions with what became of them, [`signing`] says who vouches for a version,
//! [`publishing`] prepares models for pages, and [`retention`] deletes old decisions.

pub mod deploying;
pub mod observing;
pub mod outcomes;
pub mod publishing;
pub mod retention;
pub mod serving;
pub mod signing;

pub use crate::wasm::{Identity, Runtime, ScoreError};
pub use serving::active::{Models, Snapshot};
pub use serving::component::LoadedComponent;
pub use serving::embedded::{Card, DECISION_TABLE, Embedded, INTERPRETER};
pub use serving::registry::Registry;
