//! `caudal verify`: checks the balances with SQL, and the history against its hash chains.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{Connection as _, PgPool};

use crate::cli::database::{Database, Use};
use crate::cli::heads::{self, Heads};
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::config::{Common, Verify};
use crate::db::audit::{self, Census, Finding};
use crate::db::session;
use crate::ledger::chain::ChainKey;
use crate::ledger::store::Postgres;
use crate::ledger::store::proof::{self, Break, Missing as MissingBatch, Proof};

pub(super) async fn run(common: &Common, verify: Verify) -> Result<ExitCode> {
    let path = verify.heads.unwrap_or_else(|| heads::path(&common.data_dir));
    let recorded = heads::read(&path)?;
    let key = secret::ledger_key(common, Missing::of_command(common))?;
    let database = Database::open(common, Use::Shared).await?;
    let audit = prove(&database.pool, &key, &recorded).await;
    database.close().await?;
    let Audit { census, findings, chain, missing } = audit?;
    if census.batches == 0 && recorded.is_empty() {
        bail!("the ledger is empty, so there is nothing to verify: check --data-dir and DATABASE_URL");
    }
    print(&format!(
        "checked {} accounts, {} transfers, {} entries and {} batches",
        census.accounts, census.transfers, census.entries, census.batches
    ))?;
    for Finding { rule, broken } in &findings {
        match broken {
            0 => print(&format!("  ok      {rule}"))?,
            broken => print(&format!("  BROKEN  {rule} ({broken} times)"))?,
        }
    }
    print_chain(&chain, &missing, recorded.len())?;
    let sound = findings.iter().all(|finding| finding.broken == 0) && chain.breaks.is_empty() && missing.is_empty();
    if sound {
        record(&path, &chain.heads)?;
    }
    print(if sound { "the ledger is sound" } else { "the ledger is NOT sound: stop transfers and inspect the rows" })?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Records the heads in the data folder or at `--heads`. The folder is not created: an auditor has none.
fn record(path: &Path, heads: &Heads) -> Result<()> {
    if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        return print(&format!(
            "  note    {} does not exist: truncation is detected only from recorded heads (--heads)",
            path.display()
        ));
    }
    heads::write(path, heads)
}

fn print_chain(chain: &Proof, missing: &[MissingBatch], recorded: usize) -> Result<()> {
    let state = if chain.breaks.is_empty() { "ok    " } else { "BROKEN" };
    print(&format!("  {state}  the hashes of {} chains match their batches and rows", chain.heads.len()))?;
    for Break { chain_id, seq, what } in &chain.breaks {
        print(&format!("          batch {seq} of chain {chain_id}: {what}"))?;
    }
    let state = if missing.is_empty() { "ok    " } else { "BROKEN" };
    print(&format!("  {state}  each chain reaches its recorded head ({recorded} recorded)"))?;
    for MissingBatch { chain_id, seq } in missing {
        print(&format!("          batch {seq} of chain {chain_id} is missing or was replaced: history was truncated"))?;
    }
    if chain.unchained > 0 {
        print(&format!("  note    {} batches predate the hash chain", chain.unchained))?;
    }
    Ok(())
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
            missing: proof::missing(&mut transaction, recorded).await?,
        })
    };
    let audit = audit.await.context(unreadable)?;
    transaction.commit().await.context(unreadable)?;
    Ok(audit)
}
