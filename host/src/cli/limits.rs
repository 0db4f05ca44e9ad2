//! `caudal limits`: shows and sets a user's own limits.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::cli::admin::{AdminApi, pesos};
use crate::cli::output::print;
use crate::config::{Common, LimitChange, UserLimits};

pub(super) async fn run(common: &Common, change: UserLimits) -> Result<ExitCode> {
    let UserLimits { user, per_transfer, per_day, reason, admin } = change;
    let api = AdminApi::new(common, &admin)?;
    let path = format!("/admin/users/{}/limits", segment(&user));
    let before = api.get(&path).await?;
    let mut after = before.clone();
    for (name, change) in [("perTransfer", per_transfer), ("perDay", per_day)] {
        match change {
            None => {}
            Some(LimitChange::Default) => drop(after.as_object_mut().and_then(|limits| limits.remove(name))),
            Some(LimitChange::To(limit)) => {
                after[name] = serde_json::from_str(&limit.to_string()).context("a limit is not a number")?;
            }
        }
    }
    let mut shown = before.clone();
    if after != before {
        let mut body = after;
        body["reason"] = json!(reason);
        let Some(set) = api.put(&path, &body).await?.done()? else { return Ok(ExitCode::SUCCESS) };
        shown = set;
    }
    print(&format!(
        "{user}: per transfer {}, per day {}",
        describe(&shown["perTransfer"]),
        describe(&shown["perDay"])
    ))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn describe(limit: &Value) -> String {
    if limit.is_null() { "default".to_owned() } else { format!("{} MXN", pesos(limit)) }
}

/// A text as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
