//! `caudal freeze` and `caudal unfreeze`, through the same ledger core as the service.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::ledger;
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, Freeze};
use crate::ledger::{self as core, Command, Outcome};

pub(super) async fn run(common: &Common, arguments: Freeze, frozen: bool) -> Result<ExitCode> {
    let Freeze { account, reason, by } = arguments;
    let (database, key) = ledger::open(common).await?;
    let command = Command::Freeze(core::Freeze { account_id: account, frozen, actor: by, reason });
    let outcome = ledger::submit(&database, key, Clock::system(), command).await;
    database.close().await?;
    match outcome?.context("the account may be unchanged: repeat the command")? {
        Outcome::Frozen { frozen, changed } => {
            let state = match (frozen, changed) {
                (true, true) => "now frozen",
                (true, false) => "is already frozen",
                (false, true) => "no longer frozen",
                (false, false) => "is not frozen",
            };
            print(&format!("{account}: {state}"))?;
        }
        Outcome::AccountNotFound => {
            bail!("there is no customer account {account}: `GET /api/ledger/accounts` lists them")
        }
        other => bail!("unexpected outcome {other:?}"),
    }
    Ok(ExitCode::SUCCESS)
}
