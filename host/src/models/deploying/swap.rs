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

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::process::nice;
use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::db::comparisons;
use crate::db::components::{self, NewComponent};
use crate::db::deployments::{self, Deployment};
use crate::db::session::within;
use crate::domain::model::{Digest, ModelKind};
use crate::models::deploying::catalog::{self, digest_of};
use crate::models::observing::observer::stored;
use crate::models::{Embedded, LoadedComponent, Models, Registry};
use crate::wasm::{LoadError, Runtime};

/// How often a host looks for itself, should a notice be lost.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// When what did not load is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Longest that the database may take for one of its parts here.
const DATABASE_TIME_MAX: Duration = Duration::from_secs(10);
/// Who registered what a host was built with.
const BUILT_IN: &str = "built in";
/// How much a thread that compiles gives way to those that answer; 19 is the most.
const NICENESS: i32 = 19;

/// Why a deployed component does not serve here.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("it is not registered")]
    Unknown,
    #[error("its bytes cannot be read: {0}")]
    Database(#[from] sqlx::Error),
    #[error("it does not load: {0}")]
    Load(#[from] LoadError),
    #[error("loading it panicked")]
    Panicked,
}

/// A component that was to be loaded.
type Ended = (Digest, Result<LoadedComponent, Failure>);

/// Follows what is deployed.
pub struct Swapper {
    db: PgPool,
    models: Models,
    runtime: Runtime,
    clock: Clock,
    /// Deployments that are whole: everything in them serves, or was told not to.
    settled: HashMap<ModelKind, i64>,
    /// Deployments that serve, and what of them: some of it may still be loading.
    serving: HashMap<ModelKind, (i64, Vec<Digest>)>,
    /// Whatever is deployed, loaded.
    warm: HashMap<Digest, LoadedComponent>,
    /// What is being loaded.
    loading: HashSet<Digest>,
    /// What did not load, and when to try again: it may have been chance.
    failed: HashMap<Digest, (String, Instant)>,
    tell: mpsc::UnboundedSender<Ended>,
    /// Whether the database was out of reach at the last look; told once.
    is_blind: bool,
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
        let warm = models.snapshot().champions().map(|loaded| (loaded.identity().digest, loaded)).collect();
        register_built_in(&mut *db.acquire().await?, &runtime, clock.now()).await?;
        let (tell, mut ended) = mpsc::unbounded_channel();
        let (settled, serving, loading, failed) = Default::default();
        let mut swapper =
            Self { db, models, runtime, clock, settled, serving, warm, loading, failed, tell, is_blind: false };
        // First the ear, then the look: a change in between is heard.
        let listener = deployments::listen(&swapper.db).await?;
        swapper.look().await?;
        // What is deployed serves from the first answer on.
        while !swapper.loading.is_empty() {
            let Some(loaded) = ended.recv().await else { break };
            swapper.take(loaded);
            swapper.look().await?;
        }
        Ok(tokio::spawn(swapper.follow(listener, ended)))
    }

    async fn follow(mut self, mut listener: PgListener, mut ended: mpsc::UnboundedReceiver<Ended>) {
        let mut every = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                // A lost connection is an error here and a look that fails below; both pass.
                heard = listener.recv() => match heard {
                    Err(sqlx::Error::PoolClosed) => return,
                    Err(_) => { every.tick().await; }
                    Ok(_) => {}
                },
                loaded = ended.recv() => if let Some(loaded) = loaded { self.take(loaded); },
                _ = every.tick() => {
                    if let Err(error) = self.settle().await {
                        tracing::debug!(?error, "cannot store what was seen of challengers");
                    }
                }
            }
            let seen = self.look().await;
            if let Err(error) = &seen
                && !self.is_blind
            {
                tracing::warn!(%error, "cannot see what is deployed; what serves goes on");
            }
            self.is_blind = seen.is_err();
        }
    }

    /// Puts into service what changed, as far as it is loaded, and has the rest loaded.
    async fn look(&mut self) -> Result<(), sqlx::Error> {
        let db = self.db.acquire().await?;
        let deployed = within(db, DATABASE_TIME_MAX, async |db| deployments::deployments(db).await).await?;
        self.failed.retain(|_, (_, until)| Instant::now() < *until);
        for deployment in &deployed {
            if self.settled.get(&deployment.kind) != Some(&deployment.epoch) {
                self.follow_one(deployment);
            }
        }
        self.models.metrics().components(self.runtime.counts());
        // Whatever is deployed, and what serves in its place, stays loaded; the rest goes when its last
        // request ends.
        let champions: Vec<_> = self.models.snapshot().champions().map(|it| it.identity().digest).collect();
        self.warm.retain(|digest, _| {
            champions.contains(digest) || deployed.iter().any(|it| it.components().any(|other| other == *digest))
        });
        Ok(())
    }

    fn follow_one(&mut self, deployment: &Deployment) {
        let Deployment { kind, epoch, champion, .. } = *deployment;
        for digest in deployment.components() {
            let known = self.warm.contains_key(&digest) || self.failed.contains_key(&digest);
            if !known && self.loading.insert(digest) {
                tokio::spawn(load_from(self.db.clone(), self.runtime.clone(), kind, digest, self.tell.clone()));
            }
        }
        // A champion does not wait for its challengers, nor a rollback for anything.
        if !self.warm.contains_key(&champion) && !self.failed.contains_key(&champion) {
            return;
        }
        let present: Vec<_> = deployment.components().filter(|digest| self.warm.contains_key(digest)).collect();
        let serving = self.serving.get(&kind);
        // Only when something is new: what was seen of a challenger so far is not to be forgotten.
        if serving.is_none_or(|(of, digests)| *of != epoch || *digests != present) {
            let is_new = serving.is_none_or(|(of, _)| *of != epoch);
            let mut registry = Registry::clone(&self.models.snapshot());
            let serves = registry.deploy(deployment, &self.warm);
            self.models.activate(registry);
            self.serving.insert(kind, (epoch, present));
            if serves && is_new {
                self.models.metrics().swapped(kind);
                tracing::info!(%kind, epoch, %champion, "in service");
            }
        }
        if deployment.components().any(|digest| self.loading.contains(&digest)) {
            return;
        }
        // Nobody waits for the one before: a rollback to it would say so.
        let wanted = deployment.components().filter(|digest| *digest != deployment.previous || *digest == champion);
        let mut failures: Vec<_> = wanted.filter_map(|digest| Some(self.failed.get(&digest)?.0.clone())).collect();
        failures.dedup();
        // What failed is tried again after a pause, until it serves or something else is deployed.
        if failures.is_empty() {
            self.settled.insert(kind, epoch);
        }
        self.models.note(kind, (!failures.is_empty()).then(|| failures.join("; ")));
    }

    /// Keeps what was loaded, or why it was not.
    fn take(&mut self, (digest, loaded): Ended) {
        self.loading.remove(&digest);
        match loaded {
            Ok(loaded) => {
                self.warm.insert(digest, loaded);
            }
            Err(failure) => {
                tracing::error!(%digest, %failure, "a deployed component does not serve here");
                self.failed.insert(digest, (failure.to_string(), Instant::now() + RETRY_AFTER));
            }
        }
    }

    /// Stores what was seen of challengers, and withdraws canaries that are over.
    async fn settle(&self) -> Result<(), sqlx::Error> {
        let counts = self.models.observer().take();
        if !counts.is_empty() {
            let rows: Vec<_> = counts.iter().map(stored).collect();
            let stored = match self.db.acquire().await {
                Ok(db) => within(db, DATABASE_TIME_MAX, async |db| comparisons::add(db, &rows).await).await,
                Err(error) => Err(error),
            };
            stored.inspect_err(|_| self.models.observer().give_back(counts))?;
        }
        let snapshot = self.models.snapshot();
        for (kind, epoch, reason) in snapshot.failed_canaries() {
            if let Err(error) = self.withdraw(kind, epoch, &reason).await {
                tracing::warn!(%kind, epoch, %error, "cannot withdraw a canary; here it answers nobody any longer");
            }
        }
        Ok(())
    }

    async fn withdraw(&self, kind: ModelKind, epoch: i64, reason: &str) -> Result<(), sqlx::Error> {
        let db = self.db.acquire().await?;
        within(db, DATABASE_TIME_MAX, async |db| self.withdraw_on(db, kind, epoch, reason).await).await
    }

    async fn withdraw_on(
        &self,
        db: &mut PgConnection,
        kind: ModelKind,
        epoch: i64,
        reason: &str,
    ) -> Result<(), sqlx::Error> {
        let deployed = deployments::deployment_of(db, kind).await?;
        // Another host, or an operator, may have been quicker.
        let Some(deployment) = deployed.filter(|it| it.epoch == epoch) else { return Ok(()) };
        let wanted = catalog::Wanted { canary: None, ..catalog::Wanted::from(&deployment) };
        let reason = format!("canary withdrawn: {reason}");
        let withdrawn = catalog::deploy(db, &wanted, epoch, (&reason, catalog::AUTOMATIC), self.clock.now());
        if withdrawn.await?.is_some() {
            tracing::warn!(%kind, epoch, reason, "back to the champion");
            self.models.metrics().withdrew(kind);
        }
        Ok(())
    }
}

/// Loads a component, and tells.
async fn load_from(db: PgPool, runtime: Runtime, kind: ModelKind, digest: Digest, tell: mpsc::UnboundedSender<Ended>) {
    let bytes = match db.acquire().await {
        Ok(db) => within(db, DATABASE_TIME_MAX, async |db| components::bytes_of(db, digest).await).await,
        Err(error) => Err(error),
    };
    let loaded = match bytes {
        Ok(Some(bytes)) => load(&runtime, kind, bytes).await,
        Ok(None) => Err(Failure::Unknown),
        Err(error) => Err(error.into()),
    };
    // A host that stops does not listen any longer.
    let _ = tell.send((digest, loaded));
}

/// Compiles off the request path, on a thread that gives way to those that answer.
async fn load(runtime: &Runtime, kind: ModelKind, bytes: Vec<u8>) -> Result<LoadedComponent, Failure> {
    let (reply, loaded) = oneshot::channel();
    let runtime = runtime.clone();
    let work = move || {
        // Slower, should it be refused, and otherwise the same.
        let _ = nice(NICENESS);
        let _ = reply.send(LoadedComponent::load(&runtime, kind, &bytes));
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
