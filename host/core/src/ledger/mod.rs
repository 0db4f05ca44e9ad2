//! The money core.
//!
//! A handler submits a [`Command`] to the [`Ledger`]. A batcher loads the rows that the command touches, runs
//! the pure [`apply`](mod@apply), and commits the outcome with one statement whose constraints prove it.
//! Nothing here depends on HTTP or tokens; `decide` injects the rules.
//!
//! Invariants: every amount leaves one balance and enters another; a command is answered only after its commit; an
//! idempotency key has one answer, forever.

pub mod apply;
mod balance;
pub mod batch;
mod batcher;
pub mod chain;
mod command;
mod commands;
mod counts;
mod decide;
pub mod expiry;
mod fingerprint;
pub mod fork;
pub mod heads;
mod jitter;
mod job;
mod pace;
mod queue;
pub mod receipt;
mod rows;
pub mod store;
pub mod tables;
mod tracking;
pub mod writer;

pub use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
pub use crate::domain::risk::Risk;
pub use command::{
    ByHand, Command, Freeze, Fund, LostPayee, OpenAccount, OpenedAccount, Order, Outcome, PaymentReport, PlaceHold,
    Receive, Recover, Refusal, ReleaseHold,
};
pub use jitter::Jitter;
pub use job::{LedgerConfig, LedgerError};
pub use pace::BATCH_LENGTH_MAX;
pub use queue::{BATCHERS, Ledger, QUEUE_LENGTH_MAX, QUEUE_RESERVED};
pub use tracking::is_own_tracking_key;
