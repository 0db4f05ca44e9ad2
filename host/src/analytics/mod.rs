//! Interaction events: redaction before they are queued, storage after consent is checked again.
//!
//! The queue is a table, so an event that was accepted survives a restart.

mod redaction;
mod worker;

pub use redaction::redact;
pub use worker::EventWorker;
