//! Puts deployments into service: Postgres is the source of truth, and every host follows it.
//!
//! A host is notified of a change, and polls every second as well. It loads what is missing off the
//! request path and then replaces the whole registry in one step: requests in progress finish with the
//! registry that they started with. A component that cannot be loaded changes nothing: the version in
//! service keeps serving, and the reason is logged once and reported.
//!
//! A host that loses its database also keeps serving.
//!
//! Nothing else is done here, so that nothing delays it; `upkeep` does the rest.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::clock::Clock;
use crate::db::components;
use crate::db::deployments::{self, Deployment};
use crate::db::hosts::{self, HostState, HostStatus};
use crate::db::session::within;
use crate::domain::model::{Digest, ModelKind};
use crate::models::deploying::built_in::register_built_in;
use crate::models::deploying::loading::{Components, DATABASE_TIME_MAX, LoadResult, checked};
use crate::models::deploying::references::Drift;
use crate::models::deploying::reporter::{Reporter, leave};
use crate::models::deploying::traffic_writer::TrafficWriter;
use crate::models::deploying::upkeep::{Duty, Upkeep};
use crate::models::serving::active::Models;
use crate::models::serving::component::LoadedComponent;
use crate::models::serving::registry::Registry;
use crate::models::signing::ModelKeys;
use crate::sealing::ChainKey;
use crate::wasm::Runtime;

/// How often a host polls, in case a notification is lost.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// Follows deployments.
pub struct Swapper {
    upkeep: Arc<Upkeep>,
    runtime: Runtime,
    /// Epochs that need no further work: everything in them is in service, or was withdrawn.
    settled: HashMap<ModelKind, i64>,
    /// Epochs in service, and the components of each that are loaded so far.
    in_service: HashMap<ModelKind, (i64, Vec<Digest>)>,
    components: Components,
    /// For the upkeep.
    loaded: watch::Sender<HashMap<Digest, LoadedComponent>>,
    /// Whether the last poll failed; logged once.
    is_disconnected: bool,
}

/// Stops following when it is dropped.
pub struct SwapperHandle {
    tasks: JoinSet<()>,
    db: PgPool,
    host: Uuid,
}

impl SwapperHandle {
    /// Stops following, and tells operators that this host is gone.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
        leave(&self.db, self.host).await;
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
        (keys, approval_lifetime): (Arc<ModelKeys>, Option<Duration>),
    ) -> Result<SwapperHandle, sqlx::Error> {
        let mut connection = db.acquire().await?;
        register_built_in(&mut connection, &key, &runtime, clock.now()).await?;
        hosts::purge(&mut connection).await?;
        let champions = check_champions(&mut connection, &models, &clock).await?;
        drop(connection);
        let (results, mut results_of) = mpsc::unbounded_channel();
        let components = Components::new(db.clone(), runtime.clone(), keys, champions, results);
        let mut reporter = Reporter::new(clock.now());
        let host = reporter.host.id;
        let (loaded, in_memory) = watch::channel(HashMap::new());
        let (settled, in_service) = Default::default();
        let upkeep = Upkeep { db, key, models, clock, approval_lifetime, loaded: in_memory, looked: Notify::new() };
        let upkeep = Arc::new(upkeep);
        let (of_tasks, is_disconnected) = (Arc::clone(&upkeep), false);
        let mut swapper = Self { upkeep, runtime, settled, in_service, components, loaded, is_disconnected };
        // Listens before it polls, so that no change is missed in between.
        let listener = deployments::listen(&of_tasks.db).await?;
        loop {
            swapper.poll().await?;
            reporter.report(&of_tasks.db, &of_tasks.models).await?;
            if !swapper.components.are_loading() {
                break;
            }
            let Some(result) = results_of.recv().await else { break };
            swapper.components.keep(result);
        }
        let mut tasks = JoinSet::new();
        for duty in [
            Duty::Comparisons,
            Duty::Drift(Drift::default()),
            Duty::Traffic(TrafficWriter::default()),
            Duty::Rollouts,
            Duty::Kept,
            Duty::Report(reporter),
        ] {
            tasks.spawn(Arc::clone(&of_tasks).attend(duty));
        }
        tasks.spawn(swapper.follow(listener, results_of));
        Ok(SwapperHandle { tasks, db: of_tasks.db.clone(), host })
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
                _ = every.tick() => {}
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

    /// Follows every change, as far as components are loaded, and has it reported.
    async fn poll(&mut self) -> Result<(), sqlx::Error> {
        let db = self.upkeep.db.acquire().await?;
        let key = &self.upkeep.key;
        let read = async |db: &mut PgConnection| deployments::recorded_deployments(db, key).await;
        let deployed = within(db, DATABASE_TIME_MAX, read).await?;
        self.components.forget_old_failures();
        for (deployment, is_recorded) in &deployed {
            let is_earlier = self.in_service.get(&deployment.kind).is_some_and(|(epoch, _)| deployment.epoch < *epoch);
            match *is_recorded && !is_earlier {
                false => self.refuse(deployment),
                true if self.settled.get(&deployment.kind) != Some(&deployment.epoch) => self.follow_one(deployment),
                true => {}
            }
        }
        let ((compiled, cached), metrics) = (self.runtime.counts(), self.upkeep.models.metrics());
        metrics.components_compiled.inner().store(compiled, Relaxed);
        metrics.components_cached.inner().store(cached, Relaxed);
        // Keeps what is deployed and what serves in its place; the last request drops the rest.
        let champions: Vec<_> = self.upkeep.models.snapshot().champions().map(|it| it.identity().digest).collect();
        self.components.retain(|digest| {
            champions.contains(&digest) || deployed.iter().any(|(it, _)| it.components().any(|other| other == digest))
        });
        self.loaded.send_replace(self.components.loaded().clone());
        self.upkeep.looked.notify_one();
        Ok(())
    }

    /// Keeps what serves.
    fn refuse(&mut self, &Deployment { kind, epoch, .. }: &Deployment) {
        let state =
            HostState::Failed("this is not the last deployment that a host recorded: run `caudal verify`".to_owned());
        let is_known = |it: &HostStatus| it.epoch == epoch && it.state == state;
        if self.upkeep.models.status(kind).as_ref().is_some_and(is_known) {
            return;
        }
        tracing::error!(%kind, epoch, "a deployment does not match its audit record and is not served: run `caudal verify`");
        self.settled.remove(&kind);
        let since = self.upkeep.clock.now();
        self.upkeep.models.set_status(HostStatus { kind, epoch, state, champion: None, since });
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
        let since = self.upkeep.clock.now();
        self.upkeep.models.set_status(HostStatus { kind, epoch, state, champion: None, since });
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
        let mut registry = Registry::clone(&self.upkeep.models.snapshot());
        let serves = registry.deploy(deployment, self.components.loaded());
        self.upkeep.models.activate(registry);
        self.in_service.insert(kind, (epoch, present));
        if serves && is_new {
            let metrics = self.upkeep.models.metrics();
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
        let last = self.upkeep.models.status(kind).filter(|it| it.epoch == epoch).map(|it| it.state);
        last.filter(|state| matches!(state, HostState::Failed(_))).unwrap_or(HostState::Loading)
    }
}

/// The champions that a host starts with, without those that answer otherwise than when they were registered: they do
/// not serve.
async fn check_champions(
    db: &mut PgConnection,
    models: &Models,
    clock: &Clock,
) -> Result<HashMap<Digest, LoadedComponent>, sqlx::Error> {
    let mut champions = HashMap::new();
    for champion in models.snapshot().champions() {
        let (kind, digest) = (champion.identity().kind, champion.identity().digest);
        let registered = components::answers_of(db, digest).await?;
        if let Err(failure) = checked(&champion, registered.as_deref()) {
            tracing::error!(%kind, %digest, %failure, "a built-in component does not serve");
            models.activate(Registry::clone(&models.snapshot()).without(kind));
            let (state, since) = (HostState::Failed(failure.to_string()), clock.now());
            models.set_status(HostStatus { kind, epoch: 0, state, champion: None, since });
            continue;
        }
        champions.insert(digest, champion);
    }
    Ok(champions)
}
