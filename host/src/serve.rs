//! Runs a host: follows deployments, serves both listeners, and stops in order.

use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::app::start::{Config, Tasks};
use crate::clock::Clock;
use crate::http::server::tls::RELOAD_EVERY;
use crate::http::server::{self, Lanes, Listener, Threads};
use crate::ledger::store::Postgres;
use crate::models::deploying::swap::{Swapper, SwapperHandle};
use crate::models::{Models, Registry, retention};
use crate::schedules::Scheduler;
use crate::wasm::Runtime;
use crate::{assist_router, ledger_router};

/// How long requests in progress may take to finish after a signal to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(20);

/// The same after the database is lost: requests that need it cannot finish.
const LOST_GRACE: Duration = Duration::from_secs(2);

/// The listeners of both APIs.
pub(crate) struct Listeners {
    pub(crate) ledger: Listener,
    pub(crate) assist: Listener,
}

/// Components and how to run them.
pub(crate) struct Scoring {
    pub(crate) runtime: Runtime,
    pub(crate) registry: Registry,
    /// How long decisions are kept.
    pub(crate) decision_lifetime: Duration,
}

/// A service that is ready to accept requests.
pub(crate) struct Host {
    app: App,
    tasks: Tasks,
    swapper: SwapperHandle,
    purge: JoinHandle<()>,
}

impl Host {
    /// Loads what is deployed, then starts the service.
    pub(crate) async fn start(config: Config, scoring: Scoring, db: PgPool) -> Result<Self> {
        let clock = Clock::system();
        // Adopts the ledger before anything is recorded in it.
        let key = config.ledger.key.clone();
        Postgres::open(db.clone(), &key, clock.now()).await.context("cannot use the ledger")?;
        let Scoring { runtime, registry, decision_lifetime } = scoring;
        let models = Models::new(registry);
        let model_keys = config.settings.model_keys.clone();
        let (swapped, rules) = (models.clone(), (model_keys, config.settings.approvals.map(|it| it.lifetime)));
        let swapper = Swapper::start(db.clone(), key, swapped, runtime.clone(), clock.clone(), rules)
            .await
            .context("cannot read which models are deployed")?;
        let purge = tokio::spawn(retention::run(db.clone(), clock.clone(), decision_lifetime));
        let (app, tasks) = App::start(config, db, models, runtime, clock).await?;
        Ok(Self { app, tasks, swapper, purge })
    }

    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// Serves until `stop` completes and returns its result: an error if the private Postgres exited or a recorded head
    /// is gone.
    pub(crate) async fn serve(self, listeners: Listeners, stop: impl Future<Output = Result<()>>) -> Result<()> {
        let Self { app, tasks, swapper, purge } = self;
        let (stop_servers, stopped) = watch::channel(false);
        let certificates = [&listeners.ledger, &listeners.assist].map(|listener| listener.tls.clone());
        let certificates = certificates.map(|tls| tls.map(|tls| tokio::spawn(tls.follow(RELOAD_EVERY))));
        let scheduler = tokio::spawn(Scheduler::new(app.clone()).run());
        let (ledger_router, metrics) = (ledger_router(app.clone()), app.models.metrics().clone());
        let (shared, lanes) = (Threads::Shared, Threads::Lanes(Lanes::start().context("cannot start threads")?));
        let ledger = server::serve(listeners.ledger, ledger_router, shared, metrics.clone(), stopped.clone());
        let assist = server::serve(listeners.assist, assist_router(app), lanes, metrics, stopped);
        let (ledger, assist) = (tokio::spawn(ledger), tokio::spawn(assist));

        let reason = stop.await;
        tracing::info!("stopping: requests in progress finish, queued events stay queued");
        stop_servers.send_replace(true);
        // Each holds a database connection for as long as it runs, even if a request never ends.
        swapper.stop().await;
        purge.abort();
        scheduler.abort();
        certificates.iter().flatten().for_each(JoinHandle::abort);
        tasks.stop_background().await;
        // The servers hold the last handles to the ledger, so its task ends after them, with every command
        // answered.
        let finish = async {
            let _ = tokio::join!(ledger, assist);
            tasks.finish().await;
        };
        let grace = if reason.is_ok() { SHUTDOWN_GRACE } else { LOST_GRACE };
        if tokio::time::timeout(grace, finish).await.is_err() {
            tracing::warn!("some requests did not finish in time");
        }
        reason
    }
}
