//! The money core: pure decisions by property, the database's own proofs by sabotage.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apply;
mod audit;
mod model;
mod store;
