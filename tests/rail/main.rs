//! Payment rails, each against a stub of its counterpart.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]
mod incoming;
mod stp;
#[expect(dead_code, reason = "the tests of sinks use the rest")]
mod stub;
