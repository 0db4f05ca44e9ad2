//! `caudal models deploy` and `rollback`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use sqlx::PgConnection;

use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Deploy, RollBack};
use crate::db::components::{self, Component};
use crate::db::deployments::{self, Canary, Deployment};
use crate::domain::model::{Digest, ModelKind};
use crate::models::deploying::catalog::{self, MAX_FLIP_PERCENT, Plan};
use crate::models::deploying::progress::Progress;
use crate::models::deploying::rollback::{self, Rollback, RolledBack};
use crate::sealing::ChainKey;

/// How often `--wait` polls what the hosts serve.
const POLL_EVERY: Duration = Duration::from_millis(200);

pub(super) async fn deploy(db: &mut PgConnection, key: &ChainKey, arguments: &Deploy) -> Result<ExitCode> {
    let Deploy { version, reason, by, wait, .. } = arguments;
    let registered = components::list(db).await.context("cannot read the registry")?;
    let plan = plan(arguments, &registered)?;
    let deployed = deployments::deployment_of(db, plan.kind).await.context("cannot read what is deployed")?;
    let same =
        |it: &&Deployment| it.champion == plan.champion && it.canary == plan.canary && it.shadows == plan.shadows;
    if let Some(Deployment { epoch, .. }) = deployed.as_ref().filter(same) {
        print(&format!("{version} is already deployed"))?;
        return follow(db, plan.kind, *epoch, version, *wait).await;
    }
    let epoch = change(db, key, &plan, deployed.as_ref(), (reason, by)).await?;
    print(&format!("{version} is deployed"))?;
    follow(db, plan.kind, epoch, version, *wait).await
}

fn plan(arguments: &Deploy, registered: &[Component]) -> Result<Plan> {
    let Deploy { version, canary, percent, max_flip_percent, shadows, .. } = arguments;
    let find = |version: &str| {
        let found = registered.iter().find(|it| it.model_version == version);
        found.with_context(|| format!("no registered component is called {version}: see `caudal models list`"))
    };
    let champion = find(version)?;
    let of_kind = |version: &String| {
        let found = find(version)?;
        if found.kind != champion.kind {
            bail!("{version} is not a {} component like {}", champion.kind, champion.model_version);
        }
        Ok(found.digest)
    };
    let canary = canary.as_ref().map(|version| {
        let (percent, max_flip_percent) = (percent.unwrap_or_default(), max_flip_percent.unwrap_or(MAX_FLIP_PERCENT));
        Ok::<_, anyhow::Error>(Canary { digest: of_kind(version)?, percent, max_flip_percent })
    });
    let plan = Plan {
        kind: champion.kind,
        champion: champion.digest,
        canary: canary.transpose()?,
        shadows: shadows.iter().map(of_kind).collect::<Result<_>>()?,
        has_fallback: true,
    };
    if let Err((field, detail)) = plan.check() {
        bail!("{field} {detail}");
    }
    Ok(plan)
}

/// Without `--to` it does not return to a version that was itself rolled back, so that a repeated command changes
/// nothing.
pub(super) async fn roll_back(
    db: &mut PgConnection,
    key: &ChainKey,
    kind: ModelKind,
    arguments: &RollBack,
) -> Result<ExitCode> {
    let RollBack { from, to, reason, by, wait, .. } = arguments;
    check_reason(reason)?;
    let Some(deployed) = deployments::deployment_of(db, kind).await.context("cannot read what is deployed")? else {
        bail!("nothing was deployed for {kind}, so there is nothing to roll back");
    };
    let registered = components::list(db).await.context("cannot read the registry")?;
    let name = |digest: Digest| {
        let found = registered.iter().find(|it| it.digest == digest);
        found.map_or_else(|| "an unregistered version".to_owned(), |it| it.model_version.clone())
    };
    let digest = |version: &str| {
        let found = registered.iter().find(|it| it.kind == kind && it.model_version == version);
        let found = found.with_context(|| format!("no {kind} component is called {version}: see `caudal models list`"));
        found.map(|it| it.digest)
    };
    let (champion, previous) = (name(deployed.champion), name(deployed.previous));
    if to.is_none() && !deployed.stands_in && deployed.previous != deployed.champion {
        let last = rollback::last(db, kind).await.context("cannot read the history")?;
        match last {
            Some((_, epoch)) if from.as_ref().is_none_or(|it| *it != champion) => {
                print(&format!("already rolled back to {champion}"))?;
                return follow(db, kind, epoch, &champion, *wait).await;
            }
            _ => bail!(
                "{previous} was itself rolled back: return to it with --to {previous}, or deploy {champion} to stop \
                 challengers"
            ),
        }
    }
    let from = from.as_deref().map_or(Ok(deployed.champion), digest)?;
    let to = to.as_deref().map_or(Ok(deployed.previous), digest)?;
    let (from_name, to_name) = (name(from), name(to));
    let is_current = |epoch| epoch == deployed.epoch;
    let done = Rollback { kind, from, to }.run(db, key, is_current, (reason, by), Clock::system().now()).await;
    let epoch = match done.context("cannot roll back")? {
        RolledBack::Now(epoch) => {
            print(&format!("rolled back to {to_name}"))?;
            epoch
        }
        RolledBack::Before(epoch) => {
            print(&format!("already rolled back to {to_name}"))?;
            epoch
        }
        RolledBack::NotChampion => bail!("{from_name} does not serve: {champion} does"),
        RolledBack::NotPrevious => bail!("{previous} served before, not {to_name}: use `caudal models deploy`"),
        RolledBack::Challenger => {
            bail!("{to_name} is a challenger, which a rollback would promote to all users: use `caudal models deploy`")
        }
        RolledBack::Stale | RolledBack::NothingDeployed => bail!("another change came first: see `caudal models list`"),
    };
    follow(db, kind, epoch, &to_name, *wait).await
}

fn check_reason(reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        bail!("--reason must not be empty: it is kept in the history");
    }
    Ok(())
}

async fn change(
    db: &mut PgConnection,
    key: &ChainKey,
    plan: &Plan,
    deployed: Option<&Deployment>,
    (reason, by): (&str, &str),
) -> Result<i64> {
    check_reason(reason)?;
    let seen = deployed.map_or(0, |it| it.epoch);
    let epoch = catalog::deploy(db, key, plan, seen, (reason, by), Clock::system().now()).await;
    epoch.context("cannot deploy it")?.context("another change came first: see `caudal models list`")
}

/// Prints the progress of a deployment and, with `--wait`, waits until every host serves it.
async fn follow(
    db: &mut PgConnection,
    kind: ModelKind,
    epoch: i64,
    version: &str,
    wait: Option<u32>,
) -> Result<ExitCode> {
    let deadline = Instant::now() + Duration::from_secs(wait.unwrap_or_default().into());
    let mut shown = String::new();
    loop {
        let progress = Progress::read(db, kind, epoch).await.context("cannot read what the hosts serve")?;
        let hosts = progress.hosts();
        if hosts == 0 {
            print("no host is running; the next one to start will serve it")?;
            return Ok(ExitCode::SUCCESS);
        }
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
