//! Puts deployments into service: Postgres is the source of truth, and every host follows it.
//!
//! A host is notified of a change, and polls every second as well. It loads what is missing off the
//! request path and then replaces the whole registry in one step: requests in progress finish with the
//! registry that they started with. A component that cannot be loaded changes nothing: the version in
//! service keeps serving, and the reason is logged once and reported.
//!
//! A host that loses its database also keeps serving.
//!
//! Every second it also stores comparisons with challengers, withdraws canaries that failed and looks after rollouts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use uuid::Uuid;

use crate::clock::Clock;
use crate::db::deployments::{self, Deployment};
use crate::db::hosts::{self, HostState, HostStatus};
use crate::db::session::within;
use crate::domain::model::{Digest, ModelKind};
use crate::models::attesting::keys::ModelKeys;
use crate::models::deploying::bookkeeper::Bookkeeper;
use crate::models::deploying::built_in::register_built_in;
use crate::models::deploying::loading::{Components, DATABASE_TIME_MAX, LoadResult};
use crate::models::deploying::reporter::{Reporter, leave};
use crate::models::deploying::rollout::{Rollouts, TwoPeople};
use crate::models::deploying::withdrawal::settle;
use crate::models::serving::active::Models;
use crate::models::serving::registry::Registry;
use crate::sealing::ChainKey;
use crate::wasm::Runtime;

/// How often a host polls, in case a notification is lost.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// Follows deployments.
pub struct Swapper {
    db: PgPool,
    /// Records what this host registers and withdraws.
    key: ChainKey,
    models: Models,
    runtime: Runtime,
    clock: Clock,
    two_people: Option<TwoPeople>,
    reporter: Reporter,
    bookkeeper: Bookkeeper,
    /// Epochs that need no further work: everything in them is in service, or was withdrawn.
    settled: HashMap<ModelKind, i64>,
    /// Epochs in service, and the components of each that are loaded so far.
    in_service: HashMap<ModelKind, (i64, Vec<Digest>)>,
    components: Components,
    /// Whether the last poll failed; logged once.
    is_disconnected: bool,
}

/// Stops following when it is dropped.
pub struct SwapperHandle {
    task: AbortHandle,
    db: PgPool,
    host: Uuid,
}

impl SwapperHandle {
    /// Stops following, and tells operators that this host is gone.
    pub async fn stop(self) {
        self.task.abort();
        leave(&self.db, self.host).await;
    }
}

impl Drop for SwapperHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Swapper {
    /// Registers the embedded components and puts the deployments into service before it returns.
    ///
    /// # Errors
    /// When the database fails: a host that does not know what is deployed must not start.
    pub async fn start(
        db: PgPool,
        key: ChainKey,
        models: Models,
        runtime: Runtime,
        clock: Clock,
        (keys, two_people): (Arc<ModelKeys>, Option<TwoPeople>),
    ) -> Result<SwapperHandle, sqlx::Error> {
        let champions = models.snapshot().champions().map(|loaded| (loaded.identity().digest, loaded)).collect();
        let mut connection = db.acquire().await?;
        register_built_in(&mut connection, &key, &runtime, clock.now()).await?;
        hosts::purge(&mut connection).await?;
        drop(connection);
        let (results, mut loaded) = mpsc::unbounded_channel();
        let components = Components::new(db.clone(), runtime.clone(), keys, champions, results);
        let reporter = Reporter::new(clock.now());
        let (settled, in_service) = Default::default();
        let (is_disconnected, bookkeeper) = (false, Bookkeeper::default());
        let mut swapper = Self {
            db,
            key,
            models,
            runtime,
            clock,
            two_people,
            reporter,
            bookkeeper,
            settled,
            in_service,
            components,
            is_disconnected,
        };
        // Listens before it polls, so that no change is missed in between.
        let listener = deployments::listen(&swapper.db).await?;
        swapper.poll().await?;
        while swapper.components.are_loading() {
            let Some(result) = loaded.recv().await else { break };
            swapper.components.keep(result);
            swapper.poll().await?;
        }
        let (db, host) = (swapper.db.clone(), swapper.reporter.host);
        let task = tokio::spawn(swapper.follow(listener, loaded)).abort_handle();
        Ok(SwapperHandle { task, db, host })
    }

    async fn follow(mut self, mut listener: PgListener, mut loaded: mpsc::UnboundedReceiver<LoadResult>) {
        let mut every = tokio::time::interval(POLL_EVERY);
        loop {
            tokio::select! {
                // A lost connection is an error here and in the poll below; the listener reconnects.
                notified = listener.recv() => match notified {
                    Err(sqlx::Error::PoolClosed) => return,
                    Err(_) => { every.tick().await; }
                    Ok(_) => {}
                },
                result = loaded.recv() => if let Some(result) = result { self.components.keep(result); },
                _ = every.tick() => {
                    if let Err(error) = settle(&self.db, &self.key, &self.models, &self.clock).await {
                        tracing::debug!(?error, "cannot store comparisons with challengers");
                    }
                    if let Err(error) = self.bookkeeper.store(&self.db, self.components.loaded(), self.clock.now()).await {
                        tracing::debug!(?error, "cannot store what the versions did");
                    }
                    if let Err(error) = self.rollouts().settle(&self.db).await {
                        tracing::debug!(?error, "cannot look after the rollouts");
                    }
                }
            }
            let polled = self.poll().await;
            if let Err(error) = &polled
                && !self.is_disconnected
            {
                tracing::warn!(%error, "cannot read the deployments; the versions in service keep serving");
            }
            self.is_disconnected = polled.is_err();
        }
    }

    fn rollouts(&self) -> Rollouts<'_> {
        let Self { key, two_people, clock, models, .. } = self;
        Rollouts { key, two_people: *two_people, clock, metrics: models.metrics() }
    }

    /// Follows every change, as far as components are loaded, and reports.
    async fn poll(&mut self) -> Result<(), sqlx::Error> {
        let db = self.db.acquire().await?;
        let deployed = within(db, DATABASE_TIME_MAX, async |db| deployments::deployments(db).await).await?;
        self.components.forget_old_failures();
        for deployment in &deployed {
            if self.settled.get(&deployment.kind) != Some(&deployment.epoch) {
                self.follow_one(deployment);
            }
        }
        self.models.metrics().components(self.runtime.counts());
        // Keeps what is deployed and what serves in its place; the last request drops the rest.
        let champions: Vec<_> = self.models.snapshot().champions().map(|it| it.identity().digest).collect();
        self.components.retain(|digest| {
            champions.contains(&digest) || deployed.iter().any(|it| it.components().any(|other| other == digest))
        });
        self.reporter.report(&self.db, &self.models).await
    }

    fn follow_one(&mut self, deployment: &Deployment) {
        let Deployment { kind, epoch, champion, .. } = *deployment;
        deployment.components().for_each(|digest| self.components.require(kind, digest));
        // A champion does not wait for its challengers, nor a rollback for anything.
        if !self.components.is_loading(champion) {
            self.put_into_service(deployment);
        }
        let state = self.state(deployment);
        let is_loading = deployment.components().any(|digest| self.components.is_loading(digest));
        // Failures are retried after a pause, until the deployment serves or is replaced.
        if state == HostState::Serving && !is_loading {
            self.settled.insert(kind, epoch);
        }
        let since = self.clock.now();
        self.models.set_status(HostStatus { kind, epoch, state, champion: None, since });
    }

    fn put_into_service(&mut self, deployment: &Deployment) {
        let Deployment { kind, epoch, champion, .. } = *deployment;
        let present: Vec<_> = deployment.components().filter(|digest| self.components.is_loaded(*digest)).collect();
        let before = self.in_service.get(&kind);
        // A new route resets what its watches counted, so there is one only if something changed.
        if before.is_some_and(|(of, digests)| *of == epoch && *digests == present) {
            return;
        }
        let is_new = before.is_none_or(|(of, _)| *of != epoch);
        let mut registry = Registry::clone(&self.models.snapshot());
        let serves = registry.deploy(deployment, self.components.loaded());
        self.models.activate(registry);
        self.in_service.insert(kind, (epoch, present));
        if serves && is_new {
            let metrics = self.models.metrics();
            metrics.model_swaps.of([kind.as_str()]).inc();
            metrics.model_deployment_failed.of([kind.as_str()]).set(0);
            tracing::info!(%kind, epoch, %champion, "in service");
        }
    }

    fn state(&self, deployment: &Deployment) -> HostState {
        let Deployment { kind, epoch, champion, previous, .. } = *deployment;
        // The fallback is optional: if it cannot be loaded, a rollback to it reports that.
        let required = || deployment.components().filter(|digest| *digest != previous || *digest == champion);
        let mut failures: Vec<_> = required().filter_map(|digest| self.components.failure(digest)).collect();
        failures.dedup();
        if !failures.is_empty() {
            return HostState::Failed(failures.join("; "));
        }
        if required().all(|digest| self.components.is_loaded(digest)) {
            return HostState::Serving;
        }
        // While a component is retried, the failure is still reported.
        let last = self.models.status(kind).filter(|it| it.epoch == epoch).map(|it| it.state);
        last.filter(|state| matches!(state, HostState::Failed(_))).unwrap_or(HostState::Loading)
    }
}
