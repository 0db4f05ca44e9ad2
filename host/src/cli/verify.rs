//! `caudal verify`: proves the ledger by SQL, and its history by the chain of hashes.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use sqlx::{Connection as _, PgPool};

use crate::cli::database::{Database, Use};
use crate::cli::heads::{self, Heads};
use crate::cli::{print, secret};
use crate::config::{Common, Verify};
use crate::db::audit::{self, Census, Finding};
use crate::db::session;
use crate::ledger::chain::ChainKey;
use crate::ledger::store::Postgres;
use crate::ledger::store::proof::{self, Break, Missing, Proof};

pub(super) async fn run(common: &Common, verify: Verify) -> Result<ExitCode> {
    let path = verify.heads.unwrap_or_else(|| heads::path(&common.data_dir));
    let noted = heads::read(&path)?;
    let key = secret::ledger_key(common)?;
    let database = Database::open(common, Use::Shared).await?;
    let proof = prove(&database.pool, &key, &noted).await;
    database.close().await?;
    let Proved { census, findings, chain, missing } = proof?;
    print(&format!(
        "looked at {} accounts, {} transfers, {} entries and {} batches",
        census.accounts, census.transfers, census.entries, census.batches
    ))?;
    for Finding { rule, broken } in &findings {
        match broken {
            0 => print(&format!("  ok      {rule}"))?,
            broken => print(&format!("  BROKEN  {rule} ({broken} times)"))?,
        }
    }
    print_chain(&chain, &missing, noted.len())?;
    let sound = findings.iter().all(|finding| finding.broken == 0) && chain.breaks.is_empty() && missing.is_empty();
    if sound {
        heads::write(&path, &chain.heads)?;
    }
    print(if sound { "the ledger is sound" } else { "the ledger is NOT sound: stop transfers and look at the rows" })?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_chain(chain: &Proof, missing: &[Missing], noted: usize) -> Result<()> {
    let state = if chain.breaks.is_empty() { "ok    " } else { "BROKEN" };
    print(&format!("  {state}  the hashes of {} chains fit their batches and rows", chain.heads.len()))?;
    for Break { chain_id, seq, what } in &chain.breaks {
        print(&format!("          batch {seq} of chain {chain_id}: {what}"))?;
    }
    let state = if missing.is_empty() { "ok    " } else { "BROKEN" };
    print(&format!("  {state}  each chain goes at least to where it was seen before ({noted} noted)"))?;
    for Missing { chain_id, seq } in missing {
        print(&format!(
            "          batch {seq} of chain {chain_id} is not there, or is another one: history was cut off"
        ))?;
    }
    if chain.unchained > 0 {
        print(&format!("  note    {} batches are older than the chain of hashes", chain.unchained))?;
    }
    Ok(())
}

struct Proved {
    census: Census,
    findings: Vec<Finding>,
    chain: Proof,
    missing: Vec<Missing>,
}

/// All checks see one moment, also while transfers go on.
async fn prove(pool: &PgPool, key: &ChainKey, noted: &Heads) -> Result<Proved> {
    Postgres::check(pool, key).await.context("cannot check the hashes")?;
    let unreadable = "cannot read the ledger";
    let mut db = pool.acquire().await.context(unreadable)?;
    let begin = "begin isolation level repeatable read read only";
    let mut transaction = db.begin_with(begin).await.context(unreadable)?;
    session::read_whole_tables(&mut transaction).await.context(unreadable)?;
    let proved = async {
        Ok::<_, sqlx::Error>(Proved {
            census: audit::count_rows(&mut transaction).await?,
            findings: audit::prove(&mut transaction).await?,
            chain: proof::prove(&mut transaction, key).await?,
            missing: proof::missing(&mut transaction, noted).await?,
        })
    };
    let proved = proved.await.context(unreadable)?;
    transaction.commit().await.context(unreadable)?;
    Ok(proved)
}
