//! `caudal models show`: what is known about one version.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use super::names::resolve;
use super::registry::kinds;
use crate::cli::admin::AdminApi;
use crate::cli::output::print;

/// The path of a version in the admin API.
pub(super) fn path_of(kind: &str, version: &str) -> String {
    format!("/admin/models/{kind}/versions/{}", version.replace('+', "%2B"))
}

pub(super) async fn run(api: &AdminApi, version: &str, json: bool) -> Result<ExitCode> {
    let kinds = kinds(api).await?;
    let (kind, version) = resolve(&kinds, version)?;
    let shown = api.get(&path_of(kind, version)).await?;
    print(&if json { serde_json::to_string_pretty(&shown)? } else { describe(&shown) })?;
    Ok(ExitCode::SUCCESS)
}

fn describe(it: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let by = |it: &Value| format!("added by {} {}", text(&it["added_by"]), text(&it["added_at"]));
    let signer = |it: &Value| it["signed_by"].as_str().map(|key| format!("signed by {key}"));
    let origin = if it["built_in"] == true { "built in".to_owned() } else { text(&it["registered_by"]) };
    let signature = match &it["signature"] {
        Value::Null => "none".to_owned(),
        found => format!("{}, {}", signer(found).unwrap_or_else(|| "by an unknown key".to_owned()), by(found)),
    };
    let mut lines = vec![
        text(&it["model_version"]),
        format!("  role        {}", text(&it["role"])),
        format!("  registered  {} by {origin}", text(&it["registered_at"])),
        format!("  sha256      {}", text(&it["sha256"])),
        format!("  signature   {signature}"),
    ];
    for found in it["attestations"].as_array().into_iter().flatten() {
        let signer = signer(found).unwrap_or_else(|| "not signed by a known key".to_owned());
        lines.push(format!("{}, {signer}, {}", text(&found["form"]), by(found)));
        let predicate = &found["statement"]["predicate"];
        for part in predicate["components"].as_array().into_iter().flatten() {
            lines.push(format!("  {} {}", text(&part["name"]), text(&part["version"])));
        }
        let build = &predicate["buildDefinition"];
        let builder = &predicate["runDetails"]["builder"]["id"];
        lines.extend(builder.as_str().map(|id| format!("  builder     {id}")));
        lines.extend(build["buildType"].as_str().map(|how| format!("  build type  {how}")));
        for source in build["resolvedDependencies"].as_array().into_iter().flatten() {
            let digests = source["digest"].as_object().into_iter().flatten();
            let digests: String = digests.map(|(name, value)| format!(" {name}:{}", text(value))).collect();
            lines.push(format!("  from        {}{digests}", text(&source["uri"])));
        }
    }
    for check in it["report"]["checks"].as_array().into_iter().flatten() {
        lines.push(format!("  {:8} {:13}{}", text(&check["outcome"]), text(&check["name"]), text(&check["detail"])));
    }
    lines.join("\n")
}
