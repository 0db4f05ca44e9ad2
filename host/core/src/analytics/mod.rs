//! Interaction events: redacted before queueing, and stored after a second check of consent.
//!
//! The queue is a table, so accepted events survive a restart.

mod redaction;
mod worker;

pub use redaction::redact;
pub use worker::EventWorker;
