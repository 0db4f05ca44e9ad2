//! `caudal openapi`: the document that a listener serves at `/openapi.json`.

use anyhow::Result;

use crate::cli::output::print;
use crate::config::{Listener, Openapi};
use crate::http::openapi;

pub(super) fn run(command: &Openapi) -> Result<std::process::ExitCode> {
    let listener = match command.listener {
        Listener::Ledger => openapi::Listener::Ledger,
        Listener::Assist => openapi::Listener::Assist,
    };
    print(&serde_json::to_string_pretty(&openapi::document(listener))?)?;
    Ok(std::process::ExitCode::SUCCESS)
}
