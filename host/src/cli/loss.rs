//! `caudal accept-loss`: puts on record, for good, what a failover lost.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cli::database::{Database, Use};
use crate::cli::ledger::{heads_path, recorded_heads};
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::clock::Clock;
use crate::config::{AcceptLoss, Common};
use crate::ledger::chain::ChainKey;
use crate::ledger::heads::RecordedHeads;
use crate::ledger::store::proof::{self, RECORDS};
use crate::ledger::store::{self, Loss, Postgres};

pub(super) async fn run(common: &Common, arguments: AcceptLoss) -> Result<ExitCode> {
    let path = arguments.heads.clone().unwrap_or_else(|| heads_path(&common.data_dir));
    let recorded = recorded_heads(&path, arguments.heads.is_some())?;
    let (key, _) = secret::ledger_key(common, Missing::of_command(common))?;
    let database = Database::open(common, Use::Shared).await?;
    let losses = accept(&database, &key, recorded, &arguments).await;
    database.close().await?;
    let losses = losses?;
    if losses.is_empty() {
        print(&format!("no loss found: every head in {} is in its chain", path.display()))?;
    }
    for loss in &losses {
        print(&format!("accepted as lost: {}", describe(loss)))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn describe(loss: &Loss) -> String {
    let Loss { chain_id, from_seq, to_seq, reason, by, at, .. } = loss;
    let what = match *chain_id {
        RECORDS => format!("audit records {from_seq} to {to_seq}"),
        chain_id if proof::is_of_records(chain_id) => {
            format!("audit records {from_seq} to {to_seq} of chain {chain_id}")
        }
        chain_id => format!("batches {from_seq} to {to_seq} of chain {chain_id}"),
    };
    format!("{what}, by {by} at {at}: {reason}")
}

async fn accept(
    database: &Database,
    key: &ChainKey,
    mut recorded: RecordedHeads,
    arguments: &AcceptLoss,
) -> Result<Vec<Loss>> {
    Postgres::check(&database.pool, key).await.context("cannot use the ledger")?;
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let why = (arguments.reason.as_str(), arguments.by.as_str());
    let losses = recorded.losses(&mut db, key, why, Clock::system().now()).await?;
    store::accept(&mut db, key, &losses).await.context("cannot record the loss")?;
    if !losses.is_empty() {
        let heads = proof::heads(&mut db).await.context("cannot read the heads of the chains")?;
        recorded.resume(&heads, key)?;
    }
    Ok(losses)
}
