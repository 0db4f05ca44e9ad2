//! `caudal models history`: every deployment of a kind, and why.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::cli::table::{print_json, table, text};
use crate::domain::model::ModelKind;

pub(super) async fn run(api: &AdminApi, kind: ModelKind, json: bool) -> Result<ExitCode> {
    let answer = api.get(&format!("/admin/models/{kind}/history")).await?;
    if json {
        print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<_> = answer["history"].as_array().into_iter().flatten().map(row).collect();
    print(&if rows.is_empty() {
        format!("nothing has been deployed for {kind} yet: the built-in version is serving")
    } else {
        table(["CHANGE", "CHAMPION", "CANARY", "SHADOWS", "BY", "WHEN", "REASON"], &rows)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn row(it: &Value) -> [String; 7] {
    let canary = match &it["canary"] {
        Value::Null => "-".to_owned(),
        canary => format!("{} {}%", text(&canary["version"]), canary["percent"]),
    };
    let shadows: Vec<_> = it["shadows"].as_array().into_iter().flatten().map(text).collect();
    let shadows = if shadows.is_empty() { "-".to_owned() } else { shadows.join(",") };
    [
        it["epoch"].to_string(),
        text(&it["champion"]),
        canary,
        shadows,
        text(&it["changed_by"]),
        text(&it["changed_at"]),
        text(&it["reason"]),
    ]
}
