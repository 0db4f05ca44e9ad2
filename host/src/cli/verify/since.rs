//! `caudal verify --since`: checks what was written after heads that are trusted.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{Connection as _, PgPool};

use super::report::{
    NOT_SOUND, PROVEN, is_complete, print_chain, print_differences, print_findings, print_trusted, record,
};
use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, Since};
use crate::db::schema::{self, SchemaError};
use crate::db::session;
use crate::ledger::chain::Keyring;
use crate::ledger::heads::{Heads, RecordedHeads};
use crate::ledger::store::Postgres;
use crate::ledger::store::proof::since::{self, Recent};
use crate::ledger::store::proof::{self, Missing as MissingBatch};

/// `recorded` are the heads in the file at `path`, which is written if it may be.
pub(super) async fn run(
    common: &Common,
    keys: &Keyring,
    (recorded, path, records): (RecordedHeads, &Path, bool),
    since: Since,
) -> Result<ExitCode> {
    let beginning = Beginning::new(path, &recorded, since)?;
    let database = Database::open(common, Use::Shared).await?;
    let found = prove(&database.pool, keys, &recorded.latest(), &beginning).await;
    database.close().await?;
    let (recent, differences, missing) = found?;
    let Recent { proof, findings, batches, transfers, entries, batches_before, records_before } = &recent;
    print(&format!(
        "checked: batches {batches}, transfers {transfers}, entries {entries}, audit records {}, all since {}",
        proof.records.records, beginning.name
    ))?;
    print_findings(findings)?;
    print_differences(&differences)?;
    print_chain(proof, &missing, recorded.latest().len())?;
    print_trusted(proof)?;
    print(&format!(
        "  note    NOT checked: the {batches_before} batches and {records_before} audit records up to that point, their \
         rows, what accounts sent earlier on their last day, what payees were sent earlier, and rows that no batch or \
         audit record since then names"
    ))?;
    let is_proven = proof.breaks.is_empty() && proof.records.complaints.is_empty();
    let is_sound =
        differences.is_empty() && findings.iter().all(|finding| finding.broken == 0) && is_proven && missing.is_empty();
    if is_sound && records {
        record(recorded, path, &proof.heads)?;
    }
    print(match (is_sound, is_complete(proof)) {
        (true, true) => {
            "what was written since then is sound; only `caudal verify` without --since tells whether the ledger is"
        }
        (true, false) => "what the known keys sealed since then is sound; the rest was NOT proven",
        (false, _) => NOT_SOUND,
    })?;
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where to begin.
struct Beginning {
    name: String,
    from: From,
}

enum From {
    Heads(Heads),
    Time(time::OffsetDateTime),
}

impl Beginning {
    fn new(path: &Path, recorded: &RecordedHeads, since: Since) -> Result<Self> {
        let (name, from) = match since {
            Since::Last => {
                let path = path.with_extension(PROVEN);
                let heads = RecordedHeads::read(&path)?.latest();
                if heads.is_empty() {
                    bail!(
                        "{} records no full verification to start from: run `caudal verify` without --since",
                        path.display()
                    );
                }
                (format!("the last full verification ({})", path.display()), From::Heads(heads))
            }
            Since::Heads => {
                let heads = recorded.latest();
                if heads.is_empty() {
                    bail!("there are no heads in {}: name the file of recorded heads with --heads", path.display());
                }
                (format!("the heads in {}", path.display()), From::Heads(heads))
            }
            Since::Ago(time) => at(Clock::system().now() - time),
            Since::At(time) => at(time),
        };
        Ok(Self { name, from })
    }
}

fn at(time: time::OffsetDateTime) -> (String, From) {
    (time.to_string(), From::Time(time))
}

/// Runs every check on one snapshot, while transfers go on.
async fn prove(
    pool: &PgPool,
    keys: &Keyring,
    recorded: &Heads,
    beginning: &Beginning,
) -> Result<(Recent, Vec<String>, Vec<MissingBatch>)> {
    Postgres::check(pool, keys.present()).await.context("cannot verify the hash chains")?;
    let unreadable = "cannot read the ledger";
    let mut db = pool.acquire().await.context(unreadable)?;
    let begin = "begin isolation level repeatable read read only";
    let mut transaction = db.begin_with(begin).await.context(unreadable)?;
    session::read_parts(&mut transaction).await.context(unreadable)?;
    let found = async {
        let heads = match &beginning.from {
            From::Heads(heads) => heads.clone(),
            From::Time(time) => since::heads_before(&mut transaction, *time).await?,
        };
        let differences = schema::differences(&mut transaction).await?;
        let recent = since::prove(&mut transaction, keys, &heads).await?;
        let mut missing = proof::missing(&mut transaction, keys.present(), recorded).await?;
        for gone in proof::missing(&mut transaction, keys.present(), &heads).await? {
            if !missing.contains(&gone) {
                missing.push(gone);
            }
        }
        Ok::<_, SchemaError>((recent, differences, missing))
    };
    let found = found.await.context(unreadable)?;
    transaction.commit().await.context(unreadable)?;
    Ok(found)
}
