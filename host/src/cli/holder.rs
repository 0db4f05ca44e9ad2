//! `caudal holder`: shows and sets the verified name of a user.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cli::database::Database;
use crate::cli::ledger;
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, Holder};
use crate::db::holders;
use crate::sealing::ChainKey;

pub(super) async fn run(common: &Common, holder: Holder) -> Result<ExitCode> {
    let (database, key) = ledger::open(common).await?;
    let name = apply(&database, &key, &holder).await;
    database.close().await?;
    let name = name.context("cannot read or set the name")?;
    print(&format!(
        "{}: {}",
        holder.user,
        name.as_deref().unwrap_or("no verified name, so payments go out without one")
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The name after the change.
async fn apply(database: &Database, key: &ChainKey, holder: &Holder) -> Result<Option<String>, sqlx::Error> {
    let mut db = database.pool.acquire().await?;
    let before = holders::find(&mut db, &holder.user).await?;
    if holder.name.is_none() || holder.name == before {
        return Ok(before);
    }
    if let Some(name) = &holder.name {
        holders::set(&mut db, key, &holder.user, name, &holder.by, Clock::system().now()).await?;
    }
    Ok(holder.name.clone())
}
