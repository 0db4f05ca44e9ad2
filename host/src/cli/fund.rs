//! `caudal fund`: credits an account from the bank's own funds.

use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use crate::cli::admin::{AdminApi, found, pesos};
use crate::cli::customer::account_id;
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, Fund};
use crate::domain::money::Money;

pub(super) async fn run(common: &Common, fund: Fund) -> Result<ExitCode> {
    let Fund { account, amount, reason, transaction, admin } = fund;
    let amount = Money::parse_amount(&amount).map_err(|error| anyhow!("--amount {amount}: {error}"))?;
    let transaction = transaction.unwrap_or_else(|| Clock::system().new_id());
    let api = AdminApi::new(common, &admin)?;
    let account = account_id(&api, &account).await?;
    // An amount is a JSON number with two decimals.
    let amount_json: Value = serde_json::from_str(&amount.to_string()).context("an amount is not a number")?;
    let credit = json!({"amount": amount_json, "reason": reason, "transactionId": transaction});
    let answer = api.post(&format!("/admin/accounts/{account}/fund"), &credit).await;
    let again = || format!("to repeat it without crediting twice, add --transaction {transaction}");
    let unknown = || format!("there is no customer account {account}: `caudal customer` looks up a user's");
    let answer = found(answer.with_context(again), unknown)?;
    if let Some(done) = answer.done()? {
        print(&match &done["balance"] {
            Value::Null => format!("already credited {amount} MXN"),
            balance => format!("credited {amount} MXN, new balance {} MXN", pesos(balance)),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}
