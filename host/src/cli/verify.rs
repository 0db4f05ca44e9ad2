//! `caudal verify`: checks the balances with SQL, and the history against its hash chains.

mod beginning;
mod progress;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use sqlx::PgPool;

use beginning::{Beginning, CHECKPOINT, PROVEN};
use progress::Progress;
use report::{
    NOT_SOUND, is_complete, print_chain, print_checked, print_differences, print_findings, print_trusted, record,
};

use crate::cli::database::{Database, Use};
use crate::cli::ledger::{heads_path, recorded_heads};
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::config::{Common, Verify};
use crate::db::audit;
use crate::db::schema::{self, SchemaError};
use crate::ledger::chain::Keyring;
use crate::ledger::heads::{HeadsError, RecordedHeads, write_signed};
use crate::ledger::store::Postgres;
use crate::ledger::store::proof::{self, Missing as MissingBatch, Pace, Proof, Scope};

/// How often a verification of everything notes how far it is.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

pub(super) async fn run(common: &Common, verify: Verify) -> Result<ExitCode> {
    let path = verify.heads.clone().unwrap_or_else(|| heads_path(&common.data_dir));
    let keys = keyring(common, &verify.retired_ledger_key_file)?;
    // A file that was named is compared only, unless it is to be written.
    let records = verify.heads.is_none() || verify.record_heads;
    let recorded = recorded_heads(&path, !records)?;
    let has_folder = path.parent().is_none_or(|it| it.as_os_str().is_empty() || it.exists());
    if verify.record_heads && !has_folder {
        bail!("the folder of {} does not exist: is its disk mounted?", path.display());
    }
    let beginning = Beginning::new(&path, &recorded, &keys, &verify)?;
    let latest = recorded.latest();
    let database = Database::open(common, Use::Read).await?;
    let is_whole = beginning.is_whole();
    let checkpoint = (is_whole && records && has_folder).then(|| path.with_extension(CHECKPOINT));
    let verified = prove(&database.pool, &keys, &recorded, (&beginning, verify.pace), checkpoint.clone()).await;
    database.close().await?;
    let (proof, differences, missing) = verified?;
    let is_recorded = latest.keys().any(|chain_id| !proof::is_of_records(*chain_id));
    let is_empty = proof.checked.batches + proof.checked.batches_before == 0;
    if is_whole && is_empty && !is_recorded && proof.records.complaints.is_empty() {
        bail!("the ledger is empty, so there is nothing to verify: check --data-dir and DATABASE_URL");
    }
    print_checked(&proof, &beginning)?;
    print_findings(&proof.findings)?;
    print_differences(&differences)?;
    print_chain(&proof, &missing, &recorded)?;
    print_trusted(&proof)?;
    beginning.print_unchecked(&proof)?;
    let is_sound = differences.is_empty() && proof.is_sound() && missing.is_empty();
    if is_sound && records {
        record(recorded, &path, &proof.heads, keys.present())?;
    }
    if let Some(checkpoint) = checkpoint.filter(|_| is_sound && is_complete(&proof)) {
        write_signed(&path.with_extension(PROVEN), &proof.heads, keys.present(), PROVEN)?;
        // Nothing is left to resume.
        let _ = std::fs::remove_file(checkpoint);
    }
    print(match (is_sound, is_complete(&proof)) {
        (true, true) if is_whole => "the ledger is sound",
        (true, true) => {
            "what was written since then is sound; only `caudal verify` without --since tells whether the ledger is"
        }
        (true, false) if is_whole => "what the known keys sealed is sound; the rest was NOT proven",
        (true, false) => "what the known keys sealed since then is sound; the rest was NOT proven",
        (false, _) => NOT_SOUND,
    })?;
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The present key and those in the files.
pub(super) fn keyring(common: &Common, retired: &[PathBuf]) -> Result<Keyring> {
    let (present, _) = secret::ledger_key(common, Missing::of_command(common))?;
    let retired = retired.iter().map(|path| Ok(secret::ledger_key_file(path)?.0)).collect::<Result<_>>()?;
    Ok(Keyring::new(present, retired))
}

/// Runs every check while transfers go on, and notes at `checkpoint` how far everything is sound.
async fn prove(
    pool: &PgPool,
    keys: &Keyring,
    recorded: &RecordedHeads,
    (beginning, pace): (&Beginning, Pace),
    checkpoint: Option<PathBuf>,
) -> Result<(Proof, Vec<String>, Vec<MissingBatch>)> {
    Postgres::check(pool, keys.present()).await.context("cannot verify the hash chains")?;
    let unreadable = "cannot read the ledger";
    let mut db = pool.acquire().await.context(unreadable)?;
    recorded.check_signer(&mut db, keys.present()).await?;
    let (mut written, mut noted_at) = (Ok::<_, HeadsError>(()), Instant::now());
    let note = |proof: &Proof| {
        let Some(checkpoint) = checkpoint.as_ref().filter(|_| noted_at.elapsed() >= CHECKPOINT_EVERY) else { return };
        if written.is_ok() && proof.is_sound() && is_complete(proof) {
            written = write_signed(checkpoint, &proof.heads, keys.present(), CHECKPOINT);
            noted_at = Instant::now();
        }
    };
    let verified = async {
        let progress = Progress::new();
        let differences = schema::differences(&mut db).await?;
        let scope = Scope { pace, ..beginning.scope(&mut db).await? };
        let (chains, after): (Vec<_>, Vec<_>) = scope.after.iter().map(|(id, head)| (*id, head.seq)).unzip();
        let rows = audit::count_rows(&mut db, &chains, &after).await?;
        let proof = proof::prove_with(&mut db, keys, &scope, progress.read(rows), note).await?;
        let mut missing = proof::missing(&mut db, keys.present(), &recorded.latest()).await?;
        for gone in proof::missing(&mut db, keys.present(), &scope.after).await? {
            if !missing.contains(&gone) {
                missing.push(gone);
            }
        }
        Ok::<_, SchemaError>((proof, differences, missing))
    };
    let verified = verified.await.context(unreadable)?;
    written.context("cannot note how far the verification is")?;
    Ok(verified)
}
