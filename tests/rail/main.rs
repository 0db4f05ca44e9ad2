//! Payment rails, each against a stand-in for its other side.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod stp;
mod stub;
