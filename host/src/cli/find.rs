//! `caudal find`: looks up what a customer quotes, and the account that a command names.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::Value;
use uuid::Uuid;

use crate::cli::admin::{AdminApi, found, pesos};
use crate::cli::limits::segment;
use crate::cli::output::print;
use crate::cli::table::{Column, table, text};
use crate::config::{Common, Find};
use crate::domain::clabe::Clabe;

pub(super) async fn run(common: &Common, find: Find) -> Result<ExitCode> {
    let mut found = look_up(&AdminApi::new(common, &find.admin)?, &find.text).await?;
    let user = found["user"].clone();
    for account in found["accounts"].as_array_mut().into_iter().flatten() {
        account["user"] = user.clone();
    }
    print(&table(ACCOUNT, accounts(&found)))?;
    if !found["transaction"].is_null() {
        print(&table(TRANSACTION, [&found["transaction"]]))?;
    }
    Ok(ExitCode::SUCCESS)
}

const ACCOUNT: &[Column<Value>] = &[
    ("ACCOUNT", |it| text(&it["id"])),
    ("USER", |it| text(&it["user"])),
    ("NUMBER", |it| text(&it["accountNumber"])),
    ("MXN", |it| pesos(&it["balance"])),
    ("STATE", |it| if it["frozen"] == true { "frozen" } else { "-" }.to_owned()),
];

const TRANSACTION: &[Column<Value>] = &[
    ("TRANSACTION", |it| text(&it["id"])),
    ("ACCOUNT", |it| text(&it["fromAccountId"])),
    ("MXN", |it| pesos(&it["amount"])),
    ("STATUS", |it| text(&it["status"])),
    ("MADE", |it| text(&it["createdAt"])),
];

async fn look_up(api: &AdminApi, wanted: &str) -> Result<Value> {
    let answer = api.get(&format!("/admin/find?text={}", segment(wanted))).await;
    found(answer, || {
        format!("{wanted} is not a user with an account, nor a number that the bank issued, nor a tracking key")
    })
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
