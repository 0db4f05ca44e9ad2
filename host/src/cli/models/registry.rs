//! `caudal models list`: the registry, through the admin API.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table};
use crate::domain::model::ModelKind;

pub(in crate::cli) fn kind_of(name: &str) -> Result<ModelKind> {
    let kinds = ModelKind::TEXTS.join(", ");
    ModelKind::parse(name).with_context(|| format!("there is no kind '{name}'; choose from {kinds}"))
}

/// The kinds that the operator may read about.
#[derive(Deserialize)]
struct Registry {
    models: Vec<Kind>,
}

/// A kind, its versions and what the running hosts serve.
#[derive(Deserialize)]
pub(super) struct Kind {
    pub(super) kind: String,
    pub(super) epoch: i64,
    pub(super) versions: Vec<Version>,
    pub(super) hosts: Vec<Host>,
}

#[derive(Deserialize)]
pub(super) struct Version {
    pub(super) model_version: String,
    role: String,
    bytes: i64,
    registered_by: String,
    registered_at: String,
}

#[derive(Deserialize)]
pub(super) struct Host {
    pub(super) host: String,
    pub(super) epoch: i64,
    pub(super) state: String,
    champion: Option<String>,
    pub(super) detail: Option<String>,
}

impl Kind {
    #[cfg(test)]
    pub(super) fn named(kind: &str, versions: &[&str]) -> Self {
        let version = |name: &&str| Version {
            model_version: (*name).to_owned(),
            role: "registered".to_owned(),
            bytes: 0,
            registered_by: String::new(),
            registered_at: String::new(),
        };
        Self { kind: kind.to_owned(), epoch: 0, versions: versions.iter().map(version).collect(), hosts: Vec::new() }
    }
}

pub(super) async fn kinds(api: &AdminApi) -> Result<Vec<Kind>> {
    let answer = api.get("/admin/models").await?;
    let Registry { models } = serde_json::from_value(answer).context("the host's answer has an unexpected format")?;
    Ok(models)
}

pub(super) async fn list(api: &AdminApi, json: bool) -> Result<ExitCode> {
    if json {
        print_json(&api.get("/admin/models").await?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let kinds = kinds(api).await?;
    let versions: Vec<_> = kinds.iter().flat_map(|kind| kind.versions.iter().map(move |it| (kind, it))).collect();
    let columns: [Column<(&Kind, &Version)>; 5] = [
        ("VERSION", |(_, it)| it.model_version.clone()),
        ("ROLE", |(kind, it)| role(it, kind).to_owned()),
        ("BYTES", |(_, it)| it.bytes.to_string()),
        ("REGISTERED", |(_, it)| it.registered_at.split('T').next().unwrap_or_default().to_owned()),
        ("BY", |(_, it)| it.registered_by.clone()),
    ];
    print(&table(&columns, &versions))?;
    print("")?;
    let hosts: Vec<_> = kinds.iter().flat_map(|kind| kind.hosts.iter().map(move |it| (kind, it))).collect();
    let columns: [Column<(&Kind, &Host)>; 3] =
        [("HOST", |(_, it)| it.host.clone()), ("KIND", |(kind, _)| kind.kind.clone()), ("STATE", |(_, it)| status(it))];
    print(&table(&columns, &hosts))?;
    Ok(ExitCode::SUCCESS)
}

/// In an operator's words.
fn role<'a>(version: &'a Version, kind: &Kind) -> &'a str {
    match version.role.as_str() {
        "champion" if kind.epoch == 0 => "default",
        "champion" => {
            let progress = Progress::of(&kind.hosts, kind.epoch);
            match (progress.loading, progress.failed.len()) {
                (0, 0) => "serves",
                (_, 0) => "loading",
                _ => "failed",
            }
        }
        "registered" => "-",
        role => role,
    }
}

fn status(it: &Host) -> String {
    let deployment = match (it.state.as_str(), it.epoch) {
        ("serving", 0) => String::new(),
        ("serving", epoch) => format!(" (change {epoch})"),
        ("failed", epoch) => format!("; change {epoch} failed"),
        (state, epoch) => format!("; change {epoch} is {state}"),
    };
    let reason = it.detail.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("serves {}{deployment}{reason}", it.champion.as_deref().unwrap_or("no version"))
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
    pub(super) fn of(hosts: &[Host], epoch: i64) -> Self {
        let mut progress = Self::default();
        for it in hosts {
            if it.epoch > epoch {
                progress.replaced_by = progress.replaced_by.max(Some(it.epoch));
            }
            match it.state.as_str() {
                _ if it.epoch < epoch => progress.loading += 1,
                "serving" => progress.serving += 1,
                "failed" => progress.failed.push((it.host.clone(), it.detail.clone().unwrap_or_default())),
                _ => progress.loading += 1,
            }
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(host: &str, epoch: i64, state: &str, detail: Option<&str>) -> Host {
        let (host, state, detail) = (host.to_owned(), state.to_owned(), detail.map(str::to_owned));
        Host { host, epoch, state, champion: None, detail }
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
