//! Limits on every request.

use std::time::Duration;

/// Largest request body. The largest valid one is an event of about 2 KiB.
pub const BODY_BYTES_MAX: usize = 64 << 10;

/// Longest time from a request's head to its response, including the body, so that a slow sender cannot hold
/// a connection forever. Longer than the ledger waits for a command and looks up its outcome.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);
