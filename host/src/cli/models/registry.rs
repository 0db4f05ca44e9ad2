//! `caudal models list | push | deploy | rollback | report`: the registry in the database.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::cli::models::check::{examine, format_report};
use crate::cli::models::{deployment, report};
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::Models;
use crate::db::components::{self, Component, Registered};
use crate::db::deployments::{self, Deployment};
use crate::db::hosts::{self, HostStatus};
use crate::domain::model::{Digest, ModelKind};
use crate::gate;
use crate::models::deploying::built_in::{built_in, register_built_in};
use crate::models::deploying::progress::{Progress, short};
use crate::sealing::ChainKey;
use crate::wasm::Runtime;

pub(in crate::cli) fn kind_of(name: &str) -> Result<ModelKind> {
    let kinds = ModelKind::TEXTS.join(", ");
    ModelKind::parse(name).with_context(|| format!("there is no kind '{name}'; choose from {kinds}"))
}

pub(super) async fn run(models: &Models, pool: &PgPool, key: &ChainKey) -> Result<ExitCode> {
    let mut db = pool.acquire().await.context("cannot reach the database")?;
    // As a host does on startup, so that embedded components can be deployed.
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    let registered = register_built_in(&mut db, key, &runtime, Clock::system().now()).await;
    registered.context("cannot register the embedded components")?;
    match models {
        Models::Push { file, by } => push(&mut db, key, file, by).await,
        Models::Deploy(arguments) => deployment::deploy(&mut db, key, arguments).await,
        Models::Report { kind, epoch, json } => report::run(&mut db, kind_of(kind)?, *epoch, *json).await,
        Models::Rollback(arguments) => deployment::roll_back(&mut db, key, kind_of(&arguments.kind)?, arguments).await,
        Models::List | Models::Card { .. } | Models::Check { .. } | Models::Package { .. } => list(&mut db).await,
    }
}

async fn list(db: &mut PgConnection) -> Result<ExitCode> {
    let deployed = deployments::deployments(db).await.context("cannot read what is deployed")?;
    let live = hosts::live(db).await.context("cannot read what the hosts serve")?;
    let registered = components::list(db).await.context("cannot read the registry")?;
    for Component { digest, kind, model_version, size, registered_by, registered_at, .. } in &registered {
        let role = role(*digest, *kind, &deployed, &live);
        let date = registered_at.date();
        print(&format!("{model_version:34} {role:8} {size:>9} bytes  {date} by {registered_by}"))?;
    }
    print("")?;
    if live.is_empty() {
        print("no host is running")?;
    }
    for (host, status) in &live {
        let version = registered.iter().find(|it| Some(it.digest) == status.champion);
        let version = version.map_or("no version", |it| &it.model_version);
        print(&format!("host {}  {}", short(*host), format_status(status, version)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn role(digest: Digest, kind: ModelKind, deployed: &[Deployment], live: &[(Uuid, HostStatus)]) -> &'static str {
    match deployed.iter().find(|it| it.kind == kind) {
        Some(it) if it.champion == digest => {
            let Progress { serving, loading, failed, .. } = Progress::of(live, kind, it.epoch);
            match (serving, loading, failed.len()) {
                (0, 0, 0) => "deployed",
                (_, 0, 0) => "serves",
                (_, _, 0) => "loading",
                _ => "failed",
            }
        }
        Some(it) if it.canary.is_some_and(|it| it.digest == digest) => "canary",
        Some(it) if it.shadows.contains(&digest) => "shadow",
        Some(it) if it.previous == digest => "previous",
        None if built_in(kind) == Some(digest) => "default",
        _ => "",
    }
}

fn format_status(status: &HostStatus, version: &str) -> String {
    let HostStatus { kind, epoch, state, .. } = status;
    let deployment = match (state.as_str(), epoch) {
        ("serving", 0) => String::new(),
        ("serving", epoch) => format!(" (deployment {epoch})"),
        (state, epoch) => format!("; deployment {epoch} is {state}"),
    };
    let reason = state.detail().map(|reason| format!(": {reason}")).unwrap_or_default();
    let kind = kind.as_str();
    format!("{kind:15} serves {version}{}{reason}", deployment.replace("is failed", "failed"))
}

async fn push(db: &mut PgConnection, key: &ChainKey, file: &Path, by: &str) -> Result<ExitCode> {
    let (bytes, report) = examine(file).await?;
    print(&format_report(file, &report))?;
    if !report.is_accepted() {
        return Ok(ExitCode::FAILURE);
    }
    let registered = gate::register(db, key, &bytes, &report, by, Clock::system().now()).await;
    let (version, registered) = registered.context("cannot register it")?.context("the report names no version")?;
    match registered {
        Registered::New => print(&format!("registered as {version}"))?,
        Registered::Known => print(&format!("{version} was already registered"))?,
        Registered::VersionTaken => {
            bail!("other bytes are registered under the version of {version}: raise the version")
        }
    }
    Ok(ExitCode::SUCCESS)
}
