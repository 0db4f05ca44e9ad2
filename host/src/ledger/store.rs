//! Storage of the ledger's state. All SQL that moves money is in this folder.

mod codec;
mod columns;
mod commit;
mod connection;
mod contract;
mod fate;
mod key;
mod lease;
mod lookup;
mod postgres;
pub mod proof;

pub use contract::{CommitError, Fate, Store};
pub use postgres::{OpenError, Postgres};
