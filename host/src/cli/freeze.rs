//! `caudal freeze` and `caudal unfreeze`.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::cli::admin::{AdminApi, found};
use crate::cli::customer::account_id;
use crate::cli::output::print;
use crate::config::{Common, Freeze};

pub(super) async fn run(common: &Common, arguments: Freeze, frozen: bool) -> Result<ExitCode> {
    let Freeze { account, reason, admin } = arguments;
    let action = if frozen { "freeze" } else { "unfreeze" };
    let api = AdminApi::new(common, &admin)?;
    let account = account_id(&api, &account).await?;
    let answer = api.post(&format!("/admin/accounts/{account}/{action}"), &json!({"reason": reason})).await;
    let unknown = || format!("there is no customer account {account}: `caudal customer` looks up a user's");
    let done = found(answer, unknown)?.body;
    let state = match (frozen, done["changed"] == true) {
        (true, true) => "now frozen",
        (true, false) => "already frozen",
        (false, true) => "no longer frozen",
        (false, false) => "was not frozen",
    };
    print(&format!("{account}: {state}"))?;
    Ok(ExitCode::SUCCESS)
}
