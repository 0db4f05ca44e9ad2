//! `caudal verify`: checks the balances with SQL, and the history against its hash chains.

mod progress;
mod report;
mod since;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{Connection as _, PgPool};

use progress::Progress;
use report::{NOT_SOUND, PROVEN, is_complete, print_chain, print_differences, print_findings, print_trusted, record};

use crate::cli::database::{Database, Use};
use crate::cli::ledger::{heads_path, recorded_heads};
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::config::{Common, Verify};
use crate::db::audit::{self, Census, Finding, work};
use crate::db::schema::{self, SchemaError};
use crate::db::session;
use crate::ledger::chain::Keyring;
use crate::ledger::heads::{Heads, RecordedHeads};
use crate::ledger::store::Postgres;
use crate::ledger::store::proof::{self, Missing as MissingBatch, Proof};

pub(super) async fn run(common: &Common, verify: Verify) -> Result<ExitCode> {
    let path = verify.heads.clone().unwrap_or_else(|| heads_path(&common.data_dir));
    let keys = keyring(common, &verify.retired_ledger_key_file)?;
    // A file that was named is compared only, unless it is to be written.
    let records = verify.heads.is_none() || verify.record_heads;
    let recorded = recorded_heads(&path, !records)?;
    if verify.record_heads && path.parent().is_some_and(|it| !it.as_os_str().is_empty() && !it.exists()) {
        bail!("the folder of {} does not exist: is its disk mounted?", path.display());
    }
    if let Some(since) = verify.since {
        return since::run(common, &keys, (recorded, &path, records), since).await;
    }
    let latest = recorded.latest();
    let database = Database::open(common, Use::Shared).await?;
    let audit = prove(&database.pool, &keys, &latest).await;
    database.close().await?;
    let Audit { census, findings, differences, chain, missing } = audit?;
    let is_recorded = latest.keys().any(|chain_id| *chain_id != proof::RECORDS);
    if census.batches == 0 && !is_recorded && chain.records.complaints.is_empty() {
        bail!("the ledger is empty, so there is nothing to verify: check --data-dir and DATABASE_URL");
    }
    print(&format!(
        "checked: accounts {}, transfers {}, entries {}, batches {}, audit records {}",
        census.accounts, census.transfers, census.entries, census.batches, chain.records.records
    ))?;
    print_findings(&findings)?;
    print_differences(&differences)?;
    print_chain(&chain, &missing, latest.len())?;
    print_trusted(&chain)?;
    let is_proven = chain.breaks.is_empty() && chain.records.complaints.is_empty();
    let sound =
        differences.is_empty() && findings.iter().all(|finding| finding.broken == 0) && is_proven && missing.is_empty();
    if sound && records {
        record(recorded, &path, &chain.heads)?;
        if is_complete(&chain) {
            record_proven(&path, &chain.heads)?;
        }
    }
    print(match (sound, is_complete(&chain)) {
        (true, true) => "the ledger is sound",
        (true, false) => "what the known keys sealed is sound; the rest was NOT proven",
        (false, _) => NOT_SOUND,
    })?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The present key and those in the files.
fn keyring(common: &Common, retired: &[PathBuf]) -> Result<Keyring> {
    let (present, _) = secret::ledger_key(common, Missing::of_command(common))?;
    let retired = retired.iter().map(|path| Ok(secret::ledger_key_file(path)?.0)).collect::<Result<_>>()?;
    Ok(Keyring::new(present, retired))
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

struct Audit {
    census: Census,
    findings: Vec<Finding>,
    /// Of the schema.
    differences: Vec<String>,
    chain: Proof,
    missing: Vec<MissingBatch>,
}

/// Runs every check on one snapshot, while transfers go on.
async fn prove(pool: &PgPool, keys: &Keyring, recorded: &Heads) -> Result<Audit> {
    Postgres::check(pool, keys.present()).await.context("cannot verify the hash chains")?;
    let unreadable = "cannot read the ledger";
    let mut db = pool.acquire().await.context(unreadable)?;
    let begin = "begin isolation level repeatable read read only";
    let mut transaction = db.begin_with(begin).await.context(unreadable)?;
    session::read_whole_tables(&mut transaction).await.context(unreadable)?;
    let audit = async {
        let progress = Progress::new();
        let (census, rows) = (audit::count_rows(&mut transaction).await?, work::count(&mut transaction).await?);
        progress.wait_for("checking that balances, entries and transfers agree");
        let findings = audit::prove(&mut transaction).await?;
        let differences = schema::differences(&mut transaction).await?;
        let chain = proof::prove_with(&mut transaction, keys, progress.read(rows)).await?;
        let missing = proof::missing(&mut transaction, keys.present(), recorded).await?;
        Ok::<_, SchemaError>(Audit { census, findings, differences, chain, missing })
    };
    let audit = audit.await.context(unreadable)?;
    transaction.commit().await.context(unreadable)?;
    Ok(audit)
}
