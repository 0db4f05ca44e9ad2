//! `caudal fund`: credits an account, through the same ledger core as every other movement of money.

use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use uuid::Uuid;

use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::clock::Clock;
use crate::config::{Common, Fund};
use crate::domain::money::Money;
use crate::ledger::chain::ChainKey;
use crate::ledger::store::Postgres;
use crate::ledger::{Command, Ledger, LedgerConfig, LedgerError, Outcome};
use crate::models::{Models, Registry};

pub(super) async fn run(common: &Common, fund: Fund) -> Result<ExitCode> {
    let amount = Money::parse_amount(&fund.amount).map_err(|error| anyhow!("--amount {}: {error}", fund.amount))?;
    let key = secret::ledger_key(common, Missing::of_command(common))?;
    let database = Database::open(common, Use::Shared).await?;
    let outcome = credit(&database, key, fund.account, amount).await;
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

async fn credit(database: &Database, key: ChainKey, account_id: Uuid, amount: Money) -> Result<Outcome> {
    // Credits are not subject to the rules component, so none is loaded.
    let models = Models::new(Registry::default());
    let clock = Clock::system();
    let store = Postgres::open(database.pool.clone(), &key, clock.now()).await.context("cannot open the ledger")?;
    let config = LedgerConfig::new(Default::default(), key);
    let (ledger, task) =
        Ledger::start(store, models, clock.clone(), config).await.context("cannot start the ledger")?;
    let command = crate::ledger::Fund { transfer_id: clock.new_id(), account_id, amount };
    let outcome = ledger.submit(Command::Fund(command)).await;
    drop(ledger);
    task.await.context("the ledger stopped")?;
    match outcome {
        Err(error @ (LedgerError::Unknown | LedgerError::Panicked)) => {
            // A credit has no idempotency key, so repeating it is not safe.
            Err(error).context("the credit may have been made: check the account's balance before repeating it")
        }
        outcome => outcome.map_err(anyhow::Error::from),
    }
}
