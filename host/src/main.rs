//! Parses the command line, runs a command, and prints why it failed.

use std::process::ExitCode;

use caudal::{cli, config::Cli};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(clippy::print_stderr, reason = "a failed command reports its error on standard error")]
fn main() -> ExitCode {
    match cli::run(Cli::read()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("caudal: {error:#}");
            ExitCode::FAILURE
        }
    }
}
