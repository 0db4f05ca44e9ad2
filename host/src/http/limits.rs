//! Limits on every request.

use std::time::Duration;

/// Largest request body. The largest valid one is an event of about 2 KiB.
pub const BODY_BYTES_MAX: usize = 64 << 10;

/// Longest time from a request's head to its response, including the body, so that a slow sender cannot hold
/// a connection forever. Work that has begun goes on after it, so its outcome is unknown to the client.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);

/// How long a 429 is held back: a client that ignores `Retry-After` asks four times a second over each connection, not
/// hundreds of times.
pub(super) const REFUSED_PAUSE: Duration = Duration::from_millis(250);

/// What requests are refused for rather than let wait, in metrics.
pub(crate) mod stage {
    pub(crate) const LEDGER: &str = "ledger";
    pub(crate) const DATABASE: &str = "database";
    pub(crate) const COMPONENTS: &str = "components";
    pub(crate) const EVENT_STREAMS: &str = "event-streams";
    pub(crate) const PUSHES: &str = "pushes";
    pub(crate) const REPLAYS: &str = "replays";
    pub(crate) const NOTICES: &str = "notices";

    pub(crate) const ALL: [&str; 7] = [LEDGER, DATABASE, COMPONENTS, EVENT_STREAMS, PUSHES, REPLAYS, NOTICES];
}
