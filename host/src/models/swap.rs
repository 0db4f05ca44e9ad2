//! Puts into service what is deployed: the truth is in Postgres, and every host follows it.
//!
//! A host hears of a change at once and looks for itself every second. It loads what it does not
//! have, off the request path, and then swaps the whole registry in one step: requests under way
//! finish with what they started with. What cannot be loaded changes nothing: what runs goes on, the
//! reason is logged once and shown in `/ai/health`. Without a database everything goes on too.
//!
//! Every second it also stores what was seen of challengers, and withdraws a canary that is over.
//!
//! Not for deciding what is deployed: operators do that.

use std::collections::HashMap;
use std::time::Duration;

use rustix::process::nice;
use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::catalog::{self, digest_of};
use super::observer::stored;
use super::route::Route;
use super::{Embedded, Loaded, Models, Registry};
use crate::clock::Clock;
use crate::db::comparisons;
use crate::db::components::{self, NewComponent};
use crate::db::deployments::{self, Deployment};
use crate::domain::model::{Digest, ModelKind};
use crate::wasm::{LoadError, Runtime};

/// How often a host looks for itself, should a notice be lost.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Who registered what a host was built with.
const BUILT_IN: &str = "built in";
/// How much a thread that compiles gives way to those that answer; 19 is the most.
const NICENESS: i32 = 19;

/// Why a deployed component does not serve here.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("it is not registered")]
    Unknown,
    #[error("it does not load: {0}")]
    Load(#[from] LoadError),
    #[error("loading it panicked")]
    Panicked,
}

/// Follows what is deployed.
pub struct Swapper {
    db: PgPool,
    models: Models,
    runtime: Runtime,
    clock: Clock,
    /// Epochs that were looked at, in service or not.
    seen: HashMap<ModelKind, i64>,
    /// Whatever is deployed, loaded.
    warm: HashMap<Digest, Loaded>,
}

impl Swapper {
    /// Registers what this program was built with, and puts into service what is deployed.
    ///
    /// # Errors
    /// When the database fails: a host that cannot tell what is deployed does not start.
    pub async fn start(
        db: PgPool,
        models: Models,
        runtime: Runtime,
        clock: Clock,
    ) -> Result<JoinHandle<()>, sqlx::Error> {
        let warm = models.snapshot().loaded().map(|loaded| (loaded.identity().digest, loaded)).collect();
        register_built_in(&mut *db.acquire().await?, &runtime, clock.now()).await?;
        let mut swapper = Self { db, models, runtime, clock, seen: HashMap::new(), warm };
        // First the ear, then the look: a change in between is heard.
        let listener = deployments::listen(&swapper.db).await?;
        swapper.look().await?;
        Ok(tokio::spawn(swapper.follow(listener)))
    }

    async fn follow(mut self, mut listener: PgListener) {
        let mut every = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                // A lost connection is an error here and a look that fails below; both pass.
                heard = listener.recv() => if heard.is_err() { every.tick().await; },
                _ = every.tick() => {
                    if let Err(error) = self.settle().await {
                        tracing::debug!(?error, "cannot store what was seen of challengers");
                    }
                }
            }
            if let Err(error) = self.look().await {
                tracing::debug!(?error, "cannot see what is deployed");
            }
        }
    }

    /// Puts into service what changed.
    async fn look(&mut self) -> Result<(), sqlx::Error> {
        let mut db = self.db.acquire().await?;
        let deployed = deployments::deployments(&mut db).await?;
        let is_new = |it: &&Deployment| self.seen.get(&it.kind) != Some(&it.epoch);
        let changed: Vec<_> = deployed.iter().filter(is_new).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let mut registry = Registry::clone(&self.models.snapshot());
        for deployment in changed {
            let kind = deployment.kind;
            let mut failures = Vec::new();
            for digest in deployment.components() {
                if let Err(failure) = self.warm_up(&mut db, kind, digest).await? {
                    tracing::error!(%kind, epoch = deployment.epoch, %digest, %failure, "a deployed component does not serve here");
                    // Nobody waits for the one before: a rollback to it would say so.
                    if digest != deployment.previous || digest == deployment.champion {
                        failures.push(failure.to_string());
                    }
                }
            }
            self.seen.insert(kind, deployment.epoch);
            if registry.deploy(deployment, &self.warm) {
                self.models.metrics().swapped(kind);
                tracing::info!(%kind, epoch = deployment.epoch, champion = %deployment.champion, "in service");
            }
            failures.dedup();
            self.models.note(kind, (!failures.is_empty()).then(|| failures.join("; ")));
        }
        self.models.activate(registry);
        self.models.metrics().components(self.runtime.counts());
        // Whatever is deployed, and what serves in its place, stays loaded; the rest goes when its last
        // request ends.
        let champions: Vec<_> = self.models.snapshot().loaded().map(|it| it.identity().digest).collect();
        let needed = |digest: &Digest| {
            champions.contains(digest) || deployed.iter().any(|it| it.components().any(|other| other == *digest))
        };
        self.warm.retain(|digest, _| needed(digest));
        Ok(())
    }

    /// Loads a component that is not loaded yet.
    async fn warm_up(
        &mut self,
        db: &mut PgConnection,
        kind: ModelKind,
        digest: Digest,
    ) -> Result<Result<(), Failure>, sqlx::Error> {
        if self.warm.contains_key(&digest) {
            return Ok(Ok(()));
        }
        let Some(bytes) = components::bytes_of(db, digest).await? else { return Ok(Err(Failure::Unknown)) };
        let loaded = load(&self.runtime, kind, bytes).await;
        Ok(loaded.map(|loaded| {
            self.warm.insert(digest, loaded);
        }))
    }

    /// Stores what was seen of challengers, and withdraws canaries that are over.
    async fn settle(&self) -> Result<(), sqlx::Error> {
        let counts = self.models.observer().take();
        if !counts.is_empty() {
            let rows: Vec<_> = counts.iter().map(stored).collect();
            let stored = match self.db.acquire().await {
                Ok(mut db) => comparisons::add(&mut db, &rows).await,
                Err(error) => Err(error),
            };
            stored.inspect_err(|_| self.models.observer().give_back(counts))?;
        }
        let snapshot = self.models.snapshot();
        let over = [
            over(ModelKind::Risk, snapshot.risk.as_deref()),
            over(ModelKind::Nudge, snapshot.nudge.as_deref()),
            over(ModelKind::Accessibility, snapshot.accessibility.as_deref()),
        ];
        for (kind, epoch, reason) in over.into_iter().flatten() {
            let mut db = self.db.acquire().await?;
            let deployed = deployments::deployment_of(&mut db, kind).await?;
            // Another host, or an operator, may have been quicker.
            let Some(deployment) = deployed.filter(|it| it.epoch == epoch) else { continue };
            let wanted = catalog::Wanted { canary: None, ..catalog::Wanted::from(&deployment) };
            let reason = format!("canary withdrawn: {reason}");
            if catalog::deploy(&mut db, &wanted, epoch, (&reason, catalog::AUTOMATIC), self.clock.now())
                .await?
                .is_some()
            {
                tracing::warn!(%kind, epoch, reason, "back to the champion");
                self.models.metrics().withdrew(kind);
            }
        }
        Ok(())
    }
}

/// Which canary is over, and why.
fn over<S>(kind: ModelKind, route: Option<&Route<S>>) -> Option<(ModelKind, i64, String)> {
    let route = route?;
    let reason = route.canary.as_ref()?.watch.reason()?;
    Some((kind, route.epoch, reason.to_owned()))
}

/// Compiles off the request path, on a thread that gives way to those that answer.
async fn load(runtime: &Runtime, kind: ModelKind, bytes: Vec<u8>) -> Result<Loaded, Failure> {
    let (reply, loaded) = oneshot::channel();
    let runtime = runtime.clone();
    let work = move || {
        // Slower, should it be refused, and otherwise the same.
        let _ = nice(NICENESS);
        let _ = reply.send(Loaded::new(&runtime, kind, &bytes));
    };
    // Without a thread nobody replies.
    let _ = std::thread::Builder::new().name("compile".to_owned()).spawn(work);
    Ok(loaded.await.map_err(|_| Failure::Panicked)??)
}

/// Registers what this program was built with, so that it can be deployed and rolled back to.
///
/// # Errors
/// When the database fails.
pub async fn register_built_in(
    db: &mut PgConnection,
    runtime: &Runtime,
    now: time::OffsetDateTime,
) -> Result<(), sqlx::Error> {
    for embedded in Embedded::ALL {
        // Only what is new has to be compiled to learn its version.
        if components::is_registered(db, digest_of(embedded.bytes)).await? {
            continue;
        }
        let loaded = match load(runtime, embedded.kind, embedded.bytes.to_vec()).await {
            Ok(loaded) => loaded,
            Err(failure) => {
                tracing::error!(name = embedded.name, %failure, "a built-in component does not load");
                continue;
            }
        };
        let identity = loaded.identity();
        let new = NewComponent {
            digest: identity.digest,
            kind: identity.kind,
            version: identity.version.semantic_version(),
            model_version: &identity.version,
            class: identity.class,
            bytes: embedded.bytes,
            report: None,
            by: BUILT_IN,
        };
        components::register(db, &new, now).await?;
    }
    Ok(())
}
