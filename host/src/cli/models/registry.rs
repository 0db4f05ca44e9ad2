//! `caudal models list`: the registry, through the admin API.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table, text};
use crate::domain::model::ModelKind;

pub(in crate::cli) fn kind_of(name: &str) -> Result<ModelKind> {
    let kinds = ModelKind::TEXTS.join(", ");
    ModelKind::parse(name).with_context(|| format!("there is no kind '{name}'; choose from {kinds}"))
}

/// The kinds that the operator may read about, each with its versions and what the running hosts serve.
pub(super) async fn kinds(api: &AdminApi) -> Result<Vec<Value>> {
    let answer = api.get("/admin/models").await?;
    Ok(items(&answer, "models").to_vec())
}

/// What is in a list.
pub(super) fn items<'a>(it: &'a Value, list: &str) -> &'a [Value] {
    it[list].as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) async fn list(api: &AdminApi, json: bool) -> Result<ExitCode> {
    if json {
        print_json(&api.get("/admin/models").await?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let kinds = kinds(api).await?;
    let all = |list| kinds.iter().flat_map(move |kind| items(kind, list).iter().map(move |it| (kind, it)));
    let columns: [Column<(&Value, &Value)>; 5] = [
        ("VERSION", |(_, it)| text(&it["model_version"])),
        ("ROLE", |(kind, it)| role(it, kind)),
        ("BYTES", |(_, it)| text(&it["bytes"])),
        ("REGISTERED", |(_, it)| text(&it["registered_at"]).split('T').next().unwrap_or_default().to_owned()),
        ("BY", |(_, it)| text(&it["registered_by"])),
    ];
    print(&table(&columns, &all("versions").collect::<Vec<_>>()))?;
    print("")?;
    let columns: [Column<(&Value, &Value)>; 3] = [
        ("HOST", |(_, it)| text(&it["host"])),
        ("KIND", |(kind, _)| text(&kind["kind"])),
        ("STATE", |(_, it)| status(it)),
    ];
    print(&table(&columns, &all("hosts").collect::<Vec<_>>()))?;
    Ok(ExitCode::SUCCESS)
}

fn epoch(it: &Value) -> i64 {
    it["epoch"].as_i64().unwrap_or_default()
}

/// In an operator's words.
fn role(version: &Value, kind: &Value) -> String {
    match version["role"].as_str() {
        Some("champion") if epoch(kind) == 0 => "default".to_owned(),
        Some("champion") => {
            let progress = Progress::of(items(kind, "hosts"), epoch(kind));
            let state = match (progress.loading, progress.failed.len()) {
                (0, 0) => "serves",
                (_, 0) => "loading",
                _ => "failed",
            };
            state.to_owned()
        }
        Some("registered") => "-".to_owned(),
        _ => text(&version["role"]),
    }
}

fn status(it: &Value) -> String {
    let deployment = match (it["state"].as_str().unwrap_or_default(), epoch(it)) {
        ("serving", 0) => String::new(),
        ("serving", epoch) => format!(" (change {epoch})"),
        ("failed", epoch) => format!("; change {epoch} failed"),
        (state, epoch) => format!("; change {epoch} is {state}"),
    };
    let reason = it["detail"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("serves {}{deployment}{reason}", it["champion"].as_str().unwrap_or("no version"))
}

/// The running hosts and one deployment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) serving: usize,
    pub(super) loading: usize,
    /// By host, with the reason.
    pub(super) failed: Vec<(String, String)>,
    /// A later deployment that a host follows instead.
    pub(super) replaced_by: Option<i64>,
}

impl Progress {
    /// From what the hosts report. One that is still on an earlier deployment counts as loading.
    pub(super) fn of(hosts: &[Value], wanted: i64) -> Self {
        let mut progress = Self::default();
        for it in hosts {
            if epoch(it) > wanted {
                progress.replaced_by = progress.replaced_by.max(Some(epoch(it)));
            }
            match it["state"].as_str().unwrap_or_default() {
                _ if epoch(it) < wanted => progress.loading += 1,
                "serving" => progress.serving += 1,
                "failed" => progress.failed.push((text(&it["host"]), text(&it["detail"]))),
                _ => progress.loading += 1,
            }
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(host: &str, epoch: i64, state: &str, detail: Option<&str>) -> Value {
        serde_json::json!({"host": host, "epoch": epoch, "state": state, "champion": null, "detail": detail})
    }

    #[test]
    fn hosts_are_counted_by_their_state_in_this_deployment() {
        let hosts = [
            host("1", 3, "serving", None),
            host("2", 3, "loading", None),
            // It serves the deployment before.
            host("3", 2, "serving", None),
            host("4", 3, "failed", Some("no")),
        ];
        let failed = vec![("4".to_owned(), "no".to_owned())];
        assert_eq!(Progress::of(&hosts, 3), Progress { serving: 1, loading: 2, failed, replaced_by: None });
        assert_eq!(Progress::of(&hosts, 2).replaced_by, Some(3));
    }
}
