//! `caudal models deploy` and `rollback`, through the admin API.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::registry::{Kind, Progress, kind_of, kinds};
use crate::cli::admin::{AdminApi, if_match};
use crate::cli::output::print;
use crate::config::{Deploy, RollBack};
use crate::models::deploying::catalog::MAX_FLIP_PERCENT;

/// How often `--wait` polls what the hosts serve.
const POLL_EVERY: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
struct Deployment {
    epoch: i64,
    champion: Option<String>,
    previous: Option<String>,
    fallback: bool,
    canary: Value,
    shadows: Value,
}

async fn deployment(api: &AdminApi, kind: &str) -> Result<Deployment> {
    let answer = api.get(&format!("/admin/models/{kind}/deployment")).await?;
    serde_json::from_value(answer).context("the host answers in another form")
}

pub(super) async fn deploy(api: &AdminApi, arguments: &Deploy) -> Result<ExitCode> {
    let Deploy { version, canary, percent, max_flip_percent, shadows, reason, wait, .. } = arguments;
    check_reason(reason)?;
    let kinds = kinds(api).await?;
    let kind = kind_with(&kinds, version)?;
    for other in canary.iter().chain(shadows) {
        if kind_with(&kinds, other)? != kind {
            bail!("{other} is not a {kind} component like {version}");
        }
    }
    let canary = canary.as_ref().map(|canary| {
        let max_flip_percent = max_flip_percent.unwrap_or(MAX_FLIP_PERCENT);
        json!({"version": canary, "percent": percent, "max_flip_percent": max_flip_percent})
    });
    let present = deployment(api, kind).await?;
    let is_same = present.epoch > 0
        && present.champion.as_ref() == Some(version)
        && present.canary == json!(canary)
        && present.shadows == json!(shadows);
    if is_same {
        print(&format!("{version} is already deployed"))?;
        return follow(api, kind, present.epoch, version, *wait).await;
    }
    let mut change = json!({"champion": version, "shadows": shadows, "reason": reason});
    if let Some(canary) = canary {
        change["canary"] = canary;
    }
    let path = format!("/admin/models/{kind}/deployment");
    let answer = api.call(Method::PUT, &path, &if_match(present.epoch), Some(&change)).await?;
    let Some(done) = answer.done()? else { return Ok(ExitCode::SUCCESS) };
    print(&format!("{version} is deployed"))?;
    follow(api, kind, epoch_of(&done)?, version, *wait).await
}

fn kind_with<'a>(kinds: &'a [Kind], version: &str) -> Result<&'a str> {
    let found = kinds.iter().find(|kind| kind.versions.iter().any(|it| it.model_version == version));
    let found = found.map(|kind| kind.kind.as_str());
    found.with_context(|| format!("no registered component is called {version}: see `caudal models list`"))
}

fn epoch_of(deployment: &Value) -> Result<i64> {
    deployment["epoch"].as_i64().context("the host answers in another form")
}

/// Without `--to` it does not return to a version that was itself rolled back, so that a repeated command changes
/// nothing.
pub(super) async fn roll_back(api: &AdminApi, arguments: &RollBack) -> Result<ExitCode> {
    let RollBack { kind, from, to, reason, wait, .. } = arguments;
    let kind = kind_of(kind)?.as_str();
    check_reason(reason)?;
    let present = deployment(api, kind).await?;
    let (Some(champion), Some(previous)) = (present.champion, present.previous) else {
        bail!("nothing was deployed for {kind}, so there is nothing to roll back");
    };
    if to.is_none() && !present.fallback && previous != champion {
        let has_challengers = !present.canary.is_null() || present.shadows != json!([]);
        if has_challengers || from.as_ref().is_some_and(|it| *it == champion) {
            bail!(
                "{previous} was itself rolled back: return to it with --to {previous}, or deploy {champion} to stop \
                 challengers"
            );
        }
        print(&format!("already rolled back to {champion}"))?;
        return follow(api, kind, present.epoch, &champion, *wait).await;
    }
    let to = to.as_ref().unwrap_or(&previous);
    let change = json!({"from": from.as_ref().unwrap_or(&champion), "to": to, "reason": reason});
    let path = format!("/admin/models/{kind}/rollback");
    let done = api.call(Method::POST, &path, &if_match(present.epoch), Some(&change)).await?.body;
    let epoch = epoch_of(&done)?;
    let before = if epoch == present.epoch { "already " } else { "" };
    print(&format!("{before}rolled back to {to}"))?;
    follow(api, kind, epoch, to, *wait).await
}

fn check_reason(reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        bail!("--reason must not be empty: it is kept in the history");
    }
    Ok(())
}

/// Prints the progress of a deployment and, with `--wait`, waits until every host serves it.
async fn follow(api: &AdminApi, kind: &str, epoch: i64, version: &str, wait: Option<u32>) -> Result<ExitCode> {
    let deadline = Instant::now() + Duration::from_secs(wait.unwrap_or_default().into());
    let mut shown = String::new();
    loop {
        let all = kinds(api).await?;
        let hosts = all.iter().find(|it| it.kind == kind).map(|it| &it.hosts[..]).unwrap_or_default();
        let (progress, hosts) = (Progress::of(hosts, epoch), hosts.len());
        if wait.is_none() {
            let subject = if hosts == 1 { "host is" } else { "hosts are" };
            print(&format!("{hosts} {subject} loading it: see `caudal models list`, or use --wait"))?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(later) = progress.replaced_by {
            bail!("deployment {later} replaced this one");
        }
        if let Some((host, reason)) = progress.failed.first() {
            bail!("host {host} cannot serve {version}: {reason}");
        }
        let line = format!("{} of {hosts} hosts serve {version}", progress.serving);
        if line != shown {
            print(&line)?;
            shown = line;
        }
        if progress.serving == hosts {
            return Ok(ExitCode::SUCCESS);
        }
        if Instant::now() >= deadline {
            bail!(
                "{} of {hosts} hosts are still loading {version} after {} s",
                progress.loading,
                wait.unwrap_or_default()
            );
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}
