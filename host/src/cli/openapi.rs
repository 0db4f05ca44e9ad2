//! `caudal openapi`: the document that a listener serves at `/openapi.json`.

use anyhow::Result;

use crate::cli::output::print;
use crate::config::{Listener, Openapi};
use crate::http::{ASSIST, LEDGER, openapi};

pub(super) fn run(command: &Openapi) -> Result<std::process::ExitCode> {
    let api = match command.listener {
        Listener::Ledger => &LEDGER,
        Listener::Assist => &ASSIST,
    };
    print(&serde_json::to_string_pretty(&openapi::document(api))?)?;
    Ok(std::process::ExitCode::SUCCESS)
}
