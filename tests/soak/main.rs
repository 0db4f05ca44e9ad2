//! Load on a real service while its models are swapped and while it is killed. `make test` runs it briefly; `make soak`
//! takes longer and prints meaningful figures. No times are asserted, only compared within a run and printed.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]
#![expect(clippy::print_stdout, reason = "prints figures for the reader")]

#[path = "../bench/client.rs"]
mod client;
mod crowd;
mod flood;
mod history;
mod hostile;
mod kills;
mod load;
mod memory;
mod operator;
mod overload;
#[expect(dead_code, reason = "the tests of the commands use the rest")]
#[path = "../cli/process.rs"]
mod process;
#[path = "../random.rs"]
mod random;
mod swapping;
mod turns;
mod verification;

use std::time::Duration;

/// Duration of each part under load: `CAUDAL_SOAK_SECONDS`, or `short`.
fn seconds(short: u64) -> Duration {
    let long = std::env::var("CAUDAL_SOAK_SECONDS").ok().and_then(|it| it.parse().ok());
    Duration::from_secs(long.unwrap_or(short))
}

fn is_long() -> bool {
    std::env::var_os("CAUDAL_SOAK_SECONDS").is_some()
}
