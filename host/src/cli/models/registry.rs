//! `caudal models list | push | deploy | rollback | report`: the registry, by way of the database. Hosts that
//! run follow within a second.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sqlx::{PgConnection, PgPool};

use crate::cli::models::{examine, report, told};
use crate::cli::print;
use crate::clock::Clock;
use crate::config::{Deploy, Models};
use crate::db::components::{self, Component, Registered};
use crate::db::deployments::{self, Canary, Deployment};
use crate::models::deploying::catalog::{self, MAX_FLIP_PERCENT, Wanted};
use crate::models::deploying::swap::register_built_in;
use crate::wasm::Runtime;

pub(super) async fn run(models: &Models, pool: &PgPool) -> Result<ExitCode> {
    let mut db = pool.acquire().await.context("cannot reach the database")?;
    // As a host does when it starts: what is built in can be deployed, and rolled back to.
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    register_built_in(&mut db, &runtime, Clock::system().now()).await.context("cannot register what is built in")?;
    match models {
        Models::Push { file, by } => push(&mut db, file, by).await,
        Models::Deploy(wanted) => deploy(&mut db, wanted).await,
        Models::Report { kind, epoch, json } => {
            report::run(&mut db, crate::cli::models::kind_of(kind)?, *epoch, *json).await
        }
        Models::Rollback { kind, reason, by } => rollback(&mut db, kind, reason, by).await,
        Models::List | Models::Card { .. } | Models::Check { .. } | Models::Package { .. } => list(&mut db).await,
    }
}

async fn list(db: &mut PgConnection) -> Result<ExitCode> {
    let deployed = deployments::deployments(db).await.context("cannot read what is deployed")?;
    for component in components::list(db).await.context("cannot read the registry")? {
        let Component { digest, kind, model_version, size, registered_by, registered_at, .. } = component;
        let of_kind = deployed.iter().find(|it| it.kind == kind);
        let role = match of_kind {
            Some(it) if it.champion == digest => "serves",
            Some(it) if it.canary.is_some_and(|it| it.digest == digest) => "canary",
            Some(it) if it.shadows.contains(&digest) => "shadow",
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

async fn deploy(db: &mut PgConnection, wanted: &Deploy) -> Result<ExitCode> {
    let Deploy { version, canary, percent, max_flip_percent, shadows, reason, by } = wanted;
    let registered = components::list(db).await.context("cannot read the registry")?;
    let find = |version: &str| {
        let found = registered.iter().find(|it| it.model_version == version);
        found.with_context(|| format!("no registered component is called {version}: see `caudal models list`"))
    };
    let champion = find(version)?;
    let of_kind = |version: &String| {
        let found = find(version)?;
        if found.kind != champion.kind {
            bail!("{version} is no {} component like {}", champion.kind, champion.model_version);
        }
        Ok(found.digest)
    };
    let canary = canary.as_ref().map(|version| {
        let (percent, max_flip_percent) = (percent.unwrap_or_default(), max_flip_percent.unwrap_or(MAX_FLIP_PERCENT));
        Ok::<_, anyhow::Error>(Canary { digest: of_kind(version)?, percent, max_flip_percent })
    });
    let wanted = Wanted {
        kind: champion.kind,
        champion: champion.digest,
        canary: canary.transpose()?,
        shadows: shadows.iter().map(of_kind).collect::<Result<_>>()?,
        stands_in: true,
    };
    if let Err((field, detail)) = wanted.check() {
        bail!("{field} {detail}");
    }
    let deployed = deployments::deployment_of(db, champion.kind).await.context("cannot read what is deployed")?;
    let same =
        |it: &Deployment| it.champion == wanted.champion && it.canary == wanted.canary && it.shadows == wanted.shadows;
    if deployed.as_ref().is_some_and(same) {
        print(&format!("{version} serves already"))?;
        return Ok(ExitCode::SUCCESS);
    }
    change(db, &wanted, deployed.as_ref(), reason, by).await?;
    print(&format!("{version} is deployed; hosts follow within a second"))?;
    Ok(ExitCode::SUCCESS)
}

async fn rollback(db: &mut PgConnection, kind: &str, reason: &str, by: &str) -> Result<ExitCode> {
    let kind = crate::cli::models::kind_of(kind)?;
    let Some(deployed) = deployments::deployment_of(db, kind).await.context("cannot read what is deployed")? else {
        bail!("nothing was deployed for {kind}, so there is nothing to roll back");
    };
    change(db, &Wanted::rollback(kind, deployed.previous), Some(&deployed), reason, by).await?;
    let registered = components::list(db).await.context("cannot read the registry")?;
    let version = registered.into_iter().find(|it| it.digest == deployed.previous).map(|it| it.model_version);
    print(&format!("{} serves again; hosts follow within a second", version.unwrap_or_default()))?;
    Ok(ExitCode::SUCCESS)
}

async fn change(
    db: &mut PgConnection,
    wanted: &Wanted,
    deployed: Option<&Deployment>,
    reason: &str,
    by: &str,
) -> Result<()> {
    if reason.trim().is_empty() {
        bail!("say why: the reason is kept with the change");
    }
    let seen = deployed.map_or(0, |it| it.epoch);
    let epoch = catalog::deploy(db, wanted, seen, (reason, by), Clock::system().now()).await;
    let epoch = epoch.context("cannot deploy it")?;
    epoch.context("somebody else changed it at this moment: look again with `caudal models list`")?;
    Ok(())
}
