//! `caudal gate`: examines the component on standard input and prints the report. Only the gate runs it.

use std::io;
use std::process::ExitCode;

use anyhow::Result;

use crate::cli::output::print;
use crate::gate::examination;
use crate::models::Embedded;

pub(super) fn run(may_be_unconfined: bool) -> Result<ExitCode> {
    let built_in = Embedded::ALL.map(|it| (it.kind, it.bytes));
    let report = examination::run(io::stdin(), &built_in, may_be_unconfined)?;
    print(&serde_json::to_string(&report)?)?;
    Ok(ExitCode::SUCCESS)
}
