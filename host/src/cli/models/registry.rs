//! `caudal models list | push | deploy | rollback`: the registry, by way of the database. Hosts that
//! run follow within a second.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{PgConnection, PgPool};

use super::{examine, told};
use crate::cli::print;
use crate::clock::Clock;
use crate::config::Models;
use crate::db::components::{self, Component, Deployment, Registered};
use crate::domain::model::{Digest, ModelKind};
use crate::models::catalog;
use crate::models::swap::register_built_in;
use crate::wasm::Runtime;

pub(super) async fn run(models: &Models, pool: &PgPool) -> Result<ExitCode> {
    let mut db = pool.acquire().await.context("cannot reach the database")?;
    // As a host does when it starts: what is built in can be deployed, and rolled back to.
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    register_built_in(&mut db, &runtime, Clock::system().now()).await.context("cannot register what is built in")?;
    match models {
        Models::Push { file, by } => push(&mut db, file, by).await,
        Models::Deploy { version, reason, by } => deploy(&mut db, version, reason, by).await,
        Models::Rollback { kind, reason, by } => rollback(&mut db, kind, reason, by).await,
        Models::List | Models::Card { .. } | Models::Check { .. } => list(&mut db).await,
    }
}

async fn list(db: &mut PgConnection) -> Result<ExitCode> {
    let deployed = components::deployments(db).await.context("cannot read what is deployed")?;
    for component in components::list(db).await.context("cannot read the registry")? {
        let Component { digest, kind, model_version, size, registered_by, registered_at, .. } = component;
        let of_kind = deployed.iter().find(|it| it.kind == kind);
        let role = match of_kind {
            Some(it) if it.champion == digest => "serves",
            Some(it) if it.previous == digest => "before",
            None if catalog::built_in(kind) == Some(digest) => "default",
            _ => "",
        };
        let date = registered_at.date();
        print(&format!("{model_version:34} {role:8} {size:>9} bytes  {date} by {registered_by}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn push(db: &mut PgConnection, file: &Path, by: &str) -> Result<ExitCode> {
    let (bytes, report) = examine(file).await?;
    print(&told(file, &report))?;
    if !report.is_accepted() {
        return Ok(ExitCode::FAILURE);
    }
    let registered = catalog::register(db, &bytes, &report, by, Clock::system().now()).await;
    let (version, registered) = registered.context("cannot register it")?.context("the report names no version")?;
    match registered {
        Registered::New => print(&format!("registered as {version}"))?,
        Registered::Known => print(&format!("{version} was registered already"))?,
        Registered::VersionTaken => {
            bail!("the version of {version} is registered with other bytes: it names one component, raise it")
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn deploy(db: &mut PgConnection, version: &str, reason: &str, by: &str) -> Result<ExitCode> {
    let registered = components::list(db).await.context("cannot read the registry")?;
    let Some(component) = registered.iter().find(|it| it.model_version == version) else {
        bail!("no registered component is called {version}: see `caudal models list`");
    };
    let deployed = components::deployment_of(db, component.kind).await.context("cannot read what is deployed")?;
    if deployed.is_some_and(|it| it.champion == component.digest) {
        print(&format!("{version} serves already"))?;
        return Ok(ExitCode::SUCCESS);
    }
    change(db, component.kind, deployed, component.digest, reason, by).await?;
    print(&format!("{version} is deployed; hosts follow within a second"))?;
    Ok(ExitCode::SUCCESS)
}

async fn rollback(db: &mut PgConnection, kind: &str, reason: &str, by: &str) -> Result<ExitCode> {
    let kinds = ModelKind::ALL.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let kind = ModelKind::parse(kind).with_context(|| format!("there is no kind '{kind}'; there are {kinds}"))?;
    let Some(deployed) = components::deployment_of(db, kind).await.context("cannot read what is deployed")? else {
        bail!("nothing was deployed for {kind}, so there is nothing to roll back");
    };
    change(db, kind, Some(deployed), deployed.previous, reason, by).await?;
    let registered = components::list(db).await.context("cannot read the registry")?;
    let version = registered.into_iter().find(|it| it.digest == deployed.previous).map(|it| it.model_version);
    print(&format!("{} serves again; hosts follow within a second", version.unwrap_or_default()))?;
    Ok(ExitCode::SUCCESS)
}

async fn change(
    db: &mut PgConnection,
    kind: ModelKind,
    deployed: Option<Deployment>,
    champion: Digest,
    reason: &str,
    by: &str,
) -> Result<()> {
    if reason.trim().is_empty() {
        bail!("say why: the reason is kept with the change");
    }
    let seen = deployed.map_or(0, |it| it.epoch);
    let epoch = catalog::deploy(db, (kind, champion), seen, (reason, by), Clock::system().now()).await;
    let epoch = epoch.context("cannot deploy it")?;
    epoch.context("somebody else changed it at this moment: look again with `caudal models list`")?;
    Ok(())
}
