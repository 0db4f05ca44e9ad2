//! Parses the command line, runs a command, and prints why it failed.

use std::process::ExitCode;

use caudal::cli;
use caudal::config::file::read_all;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(clippy::print_stderr, reason = "a failed command reports its error on standard error")]
fn main() -> ExitCode {
    let (cli, shown) = read_all();
    match cli::run(cli, &shown) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("caudal: {error:#}");
            ExitCode::FAILURE
        }
    }
}
