//! Storage of the ledger's state. All SQL that moves money is in this folder.

mod codec;
mod commit;
mod connection;
mod contract;
mod fate;
mod history;
mod key;
mod lease;
mod lock;
mod lookup;
mod losses;
mod origins;
mod postgres;
pub mod proof;
mod retired;
mod rotate;

pub use contract::{CommitError, Fate, Store};
pub use history::{History, batch, second_status};
pub use losses::{Loss, accept};
pub use postgres::{OpenError, Postgres};
pub use retired::RetiredKey;
pub(super) use retired::is_retired;
pub use rotate::{Cause, RotateError, Rotated, rotate};
