//! Where the ledger's state is kept. All SQL of the money path is in this folder.

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
