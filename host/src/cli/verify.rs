//! `caudal verify`: checks the balances with SQL, and the history against its hash chains.

mod report;
mod since;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{Connection as _, PgPool};

use crate::cli::database::{Database, Use};
use crate::cli::ledger::heads_path;
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::cli::verify::report::{print_chain, print_findings, print_trusted, record, record_proven};
use crate::config::{Common, Verify};
use crate::db::audit::{self, Census, Finding};
use crate::db::session;
use crate::ledger::chain::ChainKey;
use crate::ledger::heads::{Heads, RecordedHeads};
use crate::ledger::store::Postgres;
use crate::ledger::store::proof::{self, Missing as MissingBatch, Proof};

pub(super) async fn run(common: &Common, verify: Verify) -> Result<ExitCode> {
    let path = verify.heads.unwrap_or_else(|| heads_path(&common.data_dir));
    if let Some(since) = verify.since {
        return since::run(common, &path, since).await;
    }
    let recorded = RecordedHeads::read(&path)?;
    let latest = recorded.latest();
    let key = secret::ledger_key(common, Missing::of_command(common))?;
    let database = Database::open(common, Use::Shared).await?;
    let audit = prove(&database.pool, &key, &latest).await;
    database.close().await?;
    let Audit { census, findings, chain, missing } = audit?;
    let is_recorded = latest.keys().any(|chain_id| *chain_id != proof::RECORDS);
    if census.batches == 0 && !is_recorded && chain.records.complaints.is_empty() {
        bail!("the ledger is empty, so there is nothing to verify: check --data-dir and DATABASE_URL");
    }
    print(&format!(
        "checked {} accounts, {} transfers, {} entries, {} batches and {} audit records",
        census.accounts, census.transfers, census.entries, census.batches, chain.records.records
    ))?;
    print_findings(&findings)?;
    print_chain(&chain, &missing, latest.len())?;
    print_trusted(&chain)?;
    let is_proven = chain.breaks.is_empty() && chain.records.complaints.is_empty();
    let sound = findings.iter().all(|finding| finding.broken == 0) && is_proven && missing.is_empty();
    if sound {
        record(recorded, &path, &chain.heads)?;
        record_proven(&path, &chain.heads)?;
    }
    print(if sound { "the ledger is sound" } else { "the ledger is NOT sound: stop transfers and inspect the rows" })?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Audit {
    census: Census,
    findings: Vec<Finding>,
    chain: Proof,
    missing: Vec<MissingBatch>,
}

/// Runs every check on one snapshot, while transfers go on.
async fn prove(pool: &PgPool, key: &ChainKey, recorded: &Heads) -> Result<Audit> {
    Postgres::check(pool, key).await.context("cannot verify the hash chains")?;
    let unreadable = "cannot read the ledger";
    let mut db = pool.acquire().await.context(unreadable)?;
    let begin = "begin isolation level repeatable read read only";
    let mut transaction = db.begin_with(begin).await.context(unreadable)?;
    session::read_whole_tables(&mut transaction).await.context(unreadable)?;
    let audit = async {
        Ok::<_, sqlx::Error>(Audit {
            census: audit::count_rows(&mut transaction).await?,
            findings: audit::prove(&mut transaction).await?,
            chain: proof::prove(&mut transaction, key).await?,
            missing: proof::missing(&mut transaction, key, recorded).await?,
        })
    };
    let audit = audit.await.context(unreadable)?;
    transaction.commit().await.context(unreadable)?;
    Ok(audit)
}
