//! `caudal find`: looks up what a customer quotes, and the account that a command names.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use hyper::StatusCode;
use serde_json::Value;
use uuid::Uuid;

use crate::cli::admin::{AdminApi, is_refusal, pesos};
use crate::cli::limits::segment;
use crate::cli::output::print;
use crate::cli::table::{table, text};
use crate::config::{Common, Find};
use crate::domain::clabe::Clabe;

pub(super) async fn run(common: &Common, find: Find) -> Result<ExitCode> {
    let found = look_up(&AdminApi::new(common, &find.admin)?, &find.text).await?;
    let user = text(&found["user"]);
    let state = |it: &Value| if it["frozen"] == true { "frozen" } else { "-" }.to_owned();
    let account =
        |it: &Value| [text(&it["id"]), user.clone(), text(&it["accountNumber"]), pesos(&it["balance"]), state(it)];
    let accounts: Vec<_> = accounts(&found).iter().map(account).collect();
    print(&table(["ACCOUNT", "USER", "NUMBER", "MXN", "STATE"], &accounts))?;
    let it = &found["transaction"];
    if !it.is_null() {
        let [id, from, status, made] = ["id", "fromAccountId", "status", "createdAt"].map(|name| text(&it[name]));
        let row = [id, from, pesos(&it["amount"]), status, made];
        print(&table(["TRANSACTION", "ACCOUNT", "MXN", "STATUS", "MADE"], &[row]))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn look_up(api: &AdminApi, wanted: &str) -> Result<Value> {
    match api.get(&format!("/admin/find?text={}", segment(wanted))).await {
        Err(error) if is_refusal(&error, StatusCode::NOT_FOUND) => {
            bail!("{wanted} is no user with an account, no number that the bank issued, and no tracking key")
        }
        found => found,
    }
}

fn accounts(found: &Value) -> &[Value] {
    found["accounts"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The id of the account that an operator names by its id or by the CLABE that the bank gave it.
pub(super) async fn account_id(api: &AdminApi, named: &str) -> Result<Uuid> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let clabe = Clabe::read(named).context("--account must be the id of an account, or its CLABE")?;
    let found = look_up(api, named).await?;
    let has_it = |it: &&Value| it["accountNumber"].as_str().and_then(Clabe::read) == Some(clabe);
    let id = accounts(&found).iter().find(has_it).and_then(|it| it["id"].as_str()?.parse().ok());
    id.with_context(|| format!("no account was issued the number {named}"))
}
