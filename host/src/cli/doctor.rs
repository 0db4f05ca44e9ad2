//! `caudal doctor`: checks what `caudal serve` would meet with the same settings, and changes nothing.

mod database;
mod files;
mod finding;
mod machine;
mod network;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;

use self::database::Ledger;
use self::finding::{Finding, skipped};
use crate::cli::database::Use;
use crate::cli::output::print;
use crate::cli::serve;
use crate::clock::Clock;
use crate::config::{Common, Serve};

/// Exits with 1 if a host would fail, or already fails unnoticed.
pub(super) async fn run(common: &Common, settings: &Serve) -> Result<ExitCode> {
    let usage = if settings.sandbox { Use::Sandbox(&settings.policy) } else { Use::Served };
    let (mut is_healthy, mut skipped_for) = (true, BTreeMap::<String, Vec<&str>>::new());
    let mut tell = |findings: Vec<Finding>| -> Result<()> {
        for finding in findings {
            is_healthy &= !finding.is_failure();
            match finding.skipped() {
                Some((name, why)) => skipped_for.entry(why).or_default().push(name),
                None => print(&finding.to_string())?,
            }
        }
        Ok(())
    };
    let contradiction = serve::check_settings(settings).map(|()| "do not contradict each other".to_owned());
    tell(vec![Finding::of("settings", contradiction, "see `caudal serve --help`")])?;
    let (keys, key) = files::keys(common, settings);
    tell(keys)?;
    tell(files::certificates(settings, Clock::system().now()))?;
    tell(machine::check(common))?;
    let (findings, ledger) = database::open(common, usage).await;
    tell(findings)?;
    match ledger {
        None => tell(skipped(&[&database::LEDGER[..], &["recorded heads"]].concat(), "the ledger cannot be used"))?,
        Some(Ledger { mut db, pool }) => {
            tell(database::check(&mut db, &pool, (settings, usage), key.as_ref()).await)?;
            tell(files::heads(common, settings, &pool, key.as_ref()).await)?;
            tell(network::sinks(&mut db).await)?;
        }
    }
    tell(network::check(settings, key.as_ref()).await)?;
    for (why, names) in skipped_for {
        print(&format!("skip  {why}: {}", names.join(", ")))?;
    }
    Ok(if is_healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
