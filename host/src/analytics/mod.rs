//! Interaction events: redacted before they are queued, stored after consent is checked again.
//!
//! The queue is a table, so accepted events survive a restart.

mod redaction;
mod worker;

pub(crate) use redaction::redact;
pub use worker::EventWorker;
