//! Transfer events, for consumers that resume where they left off.
//!
//! Events are not stored separately: the ledger's batches are the outbox, numbered in each chain. A [`Cursor`] is a
//! position in every chain at once; a consumer that stores the last one misses nothing and sees nothing twice, across
//! restarts of any host. If events that it may have seen were lost, its cursor is refused. [`Outbox`] follows the
//! batches of all hosts and delivers each user's events to their listeners. The bank's own systems read everybody's, and
//! what operators and schedules did, in [`Page`]s.

mod cursor;
mod data;
mod envelope;
mod feed;
mod listener;
mod listeners;
mod pages;

pub use cursor::CURSOR_CHARS_MAX;
pub use cursor::{Cursor, InvalidCursor};
pub use data::TransferEvent;
#[cfg(test)]
pub(crate) use envelope::event_for_tests;
pub use envelope::{Envelope, Filter, TYPE_CHARS_MAX, TYPES_MAX, schema_name, types};
pub use feed::Outbox;
pub use listener::Listener;
pub use listeners::ListenError;
pub use listeners::{LISTENERS_EACH_MAX, LISTENERS_MAX};
pub use pages::{Commit, Page, STREAMS_MAX};
