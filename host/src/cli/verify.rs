//! `caudal verify`: proves the ledger by SQL alone.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use sqlx::{Connection as _, PgPool};

use super::database::{Database, Use};
use super::print;
use crate::config::Common;
use crate::db::audit::{self, Census, Finding};

pub(super) async fn run(common: &Common) -> Result<ExitCode> {
    let database = Database::open(common, Use::Shared).await?;
    let proof = prove(&database.pool).await;
    database.close().await?;
    let (census, findings) = proof.context("cannot read the ledger")?;
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
    let sound = findings.iter().all(|finding| finding.broken == 0);
    print(if sound { "the ledger is sound" } else { "the ledger is NOT sound: stop transfers and look at the rows" })?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All checks see one moment, also while transfers go on.
async fn prove(pool: &PgPool) -> Result<(Census, Vec<Finding>), sqlx::Error> {
    let mut db = pool.acquire().await?;
    let mut transaction = db.begin_with("begin isolation level repeatable read read only").await?;
    let census = audit::count_rows(&mut transaction).await?;
    let findings = audit::prove(&mut transaction).await?;
    transaction.commit().await?;
    Ok((census, findings))
}
