//! Load on a real service while its models are swapped and while it is killed. Short in `make test`; `make soak`
//! takes longer and prints figures that mean something. No time is asserted: times are compared in one run and
//! printed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "figures are for whoever runs it")]

#[path = "../bench/client.rs"]
mod client;
mod hostile;
mod kills;
mod load;
mod memory;
mod operator;
#[path = "../cli/process.rs"]
mod process;
mod swapping;
mod turns;

use std::time::Duration;

/// How long each part under load takes: `CAUDAL_SOAK_SECONDS`, or what suffices to see that it works.
fn seconds(short: u64) -> Duration {
    let long = std::env::var("CAUDAL_SOAK_SECONDS").ok().and_then(|it| it.parse().ok());
    Duration::from_secs(long.unwrap_or(short))
}

/// Whether this is the long form.
fn is_long() -> bool {
    std::env::var_os("CAUDAL_SOAK_SECONDS").is_some()
}
