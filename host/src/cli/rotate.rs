//! `caudal rotate-key`: replaces the ledger's key while no host runs.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cli::database::{Database, Use};
use crate::cli::ledger::heads_path;
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::clock::Clock;
use crate::config::{Common, RotateKey};
use crate::ledger::chain::ChainKey;
use crate::ledger::heads::RecordedHeads;
use crate::ledger::store::proof;
use crate::ledger::store::{self, Cause, Postgres, RetiredKey, Rotated};

pub(super) async fn run(common: &Common, arguments: RotateKey) -> Result<ExitCode> {
    let (new, new_bytes) = secret::ledger_key_file(&arguments.new_ledger_key_file)?;
    let (old, _) = secret::ledger_key(common, Missing::Refuse)?;
    let database = Database::open(common, Use::Shared).await?;
    let rotated = rotate(common, &database, (&old, &new), &arguments).await;
    database.close().await?;
    let Rotated { retired, records } = rotated?;
    print(&format!("retired {}; {records} audit records sealed with the new key", describe(&retired)))?;
    match secret::replace_ledger_key(common, &new_bytes, &retired.name()[..8])? {
        Some(kept) => print(&format!("the data folder has the new key; the old one is kept in {}", kept.display()))?,
        None => print(
            "start the hosts with the new key as CAUDAL_LEDGER_KEY or in CAUDAL_LEDGER_KEY_FILE, and keep the old one",
        )?,
    }
    print("`caudal verify` can prove what the old key sealed if you pass that key with --retired-ledger-key-file")?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn describe(key: &RetiredKey) -> String {
    let (name, chains) = (&key.name()[..8], key.chains());
    format!("key {name} with {chains} chains, by {} at {}: {}", key.by, key.at, key.reason)
}

/// The ledger must be the one that the data folder remembers, if it remembers any.
async fn rotate(
    common: &Common,
    database: &Database,
    (old, new): (&ChainKey, &ChainKey),
    arguments: &RotateKey,
) -> Result<Rotated> {
    Postgres::check(&database.pool, old).await.context("cannot use the ledger")?;
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let mut recorded = RecordedHeads::read(&heads_path(&common.data_dir))?;
    recorded.check(&mut db, old).await?;
    let cause = Cause { reason: &arguments.reason, by: &arguments.by, at: Clock::system().now() };
    let rotated = store::rotate(&mut db, old, new, cause).await.context("the key was not replaced")?;
    if common.data_dir.exists() {
        let heads = proof::heads(&mut db).await.context("cannot read the heads of the chains")?;
        recorded.advance(&heads, new)?;
    }
    Ok(rotated)
}
