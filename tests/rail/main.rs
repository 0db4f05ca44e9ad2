//! Payment rails, each against a stub of its counterpart.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod stp;
mod stub;
