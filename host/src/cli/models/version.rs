//! `caudal models show`: what is known about one version.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use super::names::resolve;
use super::registry::kinds;
use crate::cli::admin::AdminApi;
use crate::cli::output::print;

pub(super) async fn run(api: &AdminApi, version: &str, json: bool) -> Result<ExitCode> {
    let kinds = kinds(api).await?;
    let (kind, version) = resolve(&kinds, version)?;
    let shown = api.get(&format!("/admin/models/{kind}/versions/{}", version.replace('+', "%2B"))).await?;
    print(&if json { serde_json::to_string_pretty(&shown)? } else { describe(&shown) })?;
    Ok(ExitCode::SUCCESS)
}

fn describe(it: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let origin = if it["built_in"] == true { "built in".to_owned() } else { text(&it["registered_by"]) };
    let signature = match &it["signature"] {
        Value::Null => "none".to_owned(),
        found => {
            let signer =
                found["signed_by"].as_str().map_or("by an unknown key".to_owned(), |key| format!("signed by {key}"));
            format!("{signer}, added by {} {}", text(&found["added_by"]), text(&found["added_at"]))
        }
    };
    let mut lines = vec![
        text(&it["model_version"]),
        format!("  role        {}", text(&it["role"])),
        format!("  registered  {} by {origin}", text(&it["registered_at"])),
        format!("  sha256      {}", text(&it["sha256"])),
        format!("  signature   {signature}"),
    ];
    for check in it["report"]["checks"].as_array().into_iter().flatten() {
        lines.push(format!("  {:8} {:13}{}", text(&check["outcome"]), text(&check["name"]), text(&check["detail"])));
    }
    // That of a built-in model is long, and printed by `caudal models card`.
    if it["pushed_card"].is_object() {
        lines.extend([String::new(), text(&it["card"]).trim_end().to_owned()]);
    }
    lines.join("\n")
}
