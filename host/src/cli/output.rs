//! Standard output.

use std::io::Write as _;

use anyhow::{Context as _, Result};

/// Prints to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("cannot write to stdout"),
        _ => Ok(()),
    }
}
