//! `caudal fund`: credits an account, through the same ledger core as every other movement of money.

use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::cli::database::Database;
use crate::cli::ledger;
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, Fund};
use crate::db::funding;
use crate::domain::money::Money;
use crate::ledger::chain::ChainKey;
use crate::ledger::{Command, LedgerError, Outcome};

pub(super) async fn run(common: &Common, fund: Fund) -> Result<ExitCode> {
    let amount = Money::parse_amount(&fund.amount).map_err(|error| anyhow!("--amount {}: {error}", fund.amount))?;
    let (database, key) = ledger::open(common).await?;
    let outcome = credit(&database, key, &fund, amount).await;
    database.close().await?;
    match outcome? {
        Outcome::Funded(balance) => print(&format!("credited {amount} MXN, new balance {balance} MXN"))?,
        Outcome::AccountNotFound => {
            bail!("there is no customer account {}: `GET /api/ledger/accounts` lists them", fund.account)
        }
        Outcome::BalanceTooLarge => bail!("the balance would exceed the largest amount: use a smaller --amount"),
        other => bail!("unexpected outcome {other:?}"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn credit(database: &Database, key: ChainKey, fund: &Fund, amount: Money) -> Result<Outcome> {
    let clock = Clock::system();
    let (transfer_id, account_id) = (clock.new_id(), fund.account);
    // The batch that moves the money has no column for the operator, so the intent is on record before it.
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let recorded = funding::record(&mut db, &key, (transfer_id, account_id, amount), &fund.by, clock.now()).await;
    recorded.context("cannot record who funds the account")?;
    drop(db);
    let command = Command::Fund(crate::ledger::Fund { transfer_id, account_id, amount });
    match ledger::submit(database, key, clock, command).await? {
        Err(error @ (LedgerError::Unknown | LedgerError::Panicked)) => {
            // A credit has no idempotency key, so repeating it is not safe.
            Err(error).context("the credit may have been made: check the account's balance before repeating it")
        }
        outcome => outcome.map_err(anyhow::Error::from),
    }
}
