//! Payment rails, each against a stub of its counterpart.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]
mod incoming;
mod stp;
mod stub;
