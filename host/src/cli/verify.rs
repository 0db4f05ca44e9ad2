//! `caudal verify`: checks the balances with SQL, and the history against its hash chains.

mod since;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{Connection as _, PgPool};

use crate::cli::database::{Database, Use};
use crate::cli::ledger::heads_path;
use crate::cli::loss;
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::config::{Common, Verify};
use crate::db::audit::{self, Census, Finding};
use crate::db::session;
use crate::ledger::chain::ChainKey;
use crate::ledger::heads::{Heads, RecordedHeads};
use crate::ledger::store::proof::{self, Break, Missing as MissingBatch, Proof};
use crate::ledger::store::{Adoption, Postgres};

/// What the file is called that names the heads which a sound verification of everything found, beside the recorded heads.
/// Those go on with the hosts; these stay until the next such verification.
const PROVEN: &str = "proven.json";

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

/// Records the heads in the data folder or at `--heads`. The folder is not created: an auditor has none.
fn record(mut recorded: RecordedHeads, path: &Path, heads: &Heads) -> Result<()> {
    if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        return print(&format!(
            "  note    {} does not exist: truncation is detected only from recorded heads (--heads)",
            path.display()
        ));
    }
    Ok(recorded.advance(heads)?)
}

/// Records what was proven in full beside the recorded heads, if there is such a folder.
fn record_proven(path: &Path, heads: &Heads) -> Result<()> {
    let proven = path.with_extension(PROVEN);
    match proven.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => Ok(()),
        // After an accepted loss the heads are before those of the last time.
        _ => Ok(RecordedHeads::read(&proven)?.resume(heads)?),
    }
}

fn print_findings(findings: &[Finding]) -> Result<()> {
    for Finding { rule, broken } in findings {
        match broken {
            0 => print(&format!("  ok      {rule}"))?,
            broken => print(&format!("  BROKEN  {rule} ({broken} times)"))?,
        }
    }
    Ok(())
}

fn print_chain(chain: &Proof, missing: &[MissingBatch], recorded: usize) -> Result<()> {
    let state = |is_sound: bool| if is_sound { "ok    " } else { "BROKEN" };
    let chains = chain.heads.keys().filter(|chain_id| **chain_id != proof::RECORDS).count();
    print(&format!(
        "  {}  the hashes of {chains} chains match their batches and rows",
        state(chain.breaks.is_empty())
    ))?;
    for Break { chain_id, seq, what } in &chain.breaks {
        print(&format!("          batch {seq} of chain {chain_id}: {what}"))?;
    }
    let complaints = &chain.records.complaints;
    let rule = "payees, limits, components, deployments and chains are as recorded";
    print(&format!("  {}  {rule}", state(complaints.is_empty())))?;
    for complaint in complaints {
        print(&format!("          {complaint}"))?;
    }
    print(&format!("  {}  each chain reaches its recorded head ({recorded} recorded)", state(missing.is_empty())))?;
    for MissingBatch { chain_id, seq } in missing {
        let what = if *chain_id == proof::RECORDS {
            format!("audit record {seq}")
        } else {
            format!("batch {seq} of chain {chain_id}")
        };
        print(&format!("          {what} is missing or was replaced: history was truncated"))?;
    }
    Ok(())
}

/// What no hash proves, always: adopting or accepting must not hide anything.
fn print_trusted(chain: &Proof) -> Result<()> {
    match &chain.adoption {
        Some(it) if it.is_empty() => print(&format!("  note    recorded since {}, from an empty ledger on", it.at))?,
        Some(it) => {
            let Adoption { at, chains, batches, accounts, beneficiaries, limits, components, deployments, .. } = it;
            print(&format!(
                "  ADOPTED at {at}, and trusted without proof: {chains} chains with {batches} batches without a hash, \
                 {accounts} accounts older than the chains, {beneficiaries} payees, {limits} users' limits, \
                 {components} components, {deployments} deployments"
            ))?;
        }
        None => {}
    }
    for it in &chain.losses {
        print(&format!("  LOST    {}", loss::describe(it)))?;
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
            missing: proof::missing(&mut transaction, key, recorded).await?,
        })
    };
    let audit = audit.await.context(unreadable)?;
    transaction.commit().await.context(unreadable)?;
    Ok(audit)
}
