//! Wires the service: the one place where its parts are created and connected, for `caudal serve` and for tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::PgPool;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use crate::analytics::EventWorker;
use crate::app::{App, Parts, Settings};
use crate::audit::Refusals;
use crate::auth::minter::Minter;
use crate::auth::rates::Rates;
use crate::auth::token::Verifier;
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::db::connections::Connections;
use crate::enforcement::acknowledgment::Acknowledgments;
use crate::gate::launcher::Launcher;
use crate::gate::pushes::Pushes;
use crate::ledger::expiry::Expiry;
use crate::ledger::store::Postgres;
use crate::ledger::{Ledger, LedgerConfig};
use crate::models::Models;
use crate::outbox::{Outbox, STREAMS_MAX};
use crate::payees::sandbox::Sandbox;
use crate::payees::{PayeeCheck, Unconnected};
use crate::rail::courier::Courier;
use crate::rail::{Notification, Rail};
use crate::replay::CONCURRENT_MAX;
use crate::sinks::Sinks;
use crate::wasm::Runtime;

/// The configuration of an [`App`].
pub struct Config {
    pub barrier: Barrier,
    pub tokens: Verifier,
    /// Mints tokens for anybody; only in the sandbox.
    pub minter: Option<Minter>,
    pub acknowledgments: Acknowledgments,
    pub ledger: LedgerConfig,
    pub settings: Settings,
    /// `None` if payments settle at once.
    pub rail: Option<RailHandle>,
    /// Path of this executable, which the gate runs to examine a component.
    pub program: PathBuf,
}

/// A rail and its notifications.
pub struct RailHandle {
    pub rail: Arc<dyn Rail>,
    pub notifications: mpsc::Receiver<Notification>,
    /// How long a courier's claim lasts, usually [`CLAIM`](crate::rail::courier::CLAIM).
    pub claim: Duration,
}

/// The tasks behind an [`App`]. Dropping this does not stop them.
pub struct Tasks {
    ledger: JoinHandle<()>,
    events: JoinHandle<()>,
    courier: Option<JoinHandle<()>>,
    expiry: JoinHandle<()>,
    outbox: Outbox,
    outbox_poll: JoinHandle<()>,
    sinks: JoinHandle<()>,
    rates: JoinHandle<()>,
    refusals: JoinHandle<()>,
}

impl App {
    /// Opens the ledger and starts the tasks that requests rely on.
    ///
    /// # Errors
    /// If the ledger was written with another key, or the database fails.
    pub async fn start(
        config: Config,
        db: PgPool,
        models: Models,
        runtime: Runtime,
        clock: Clock,
    ) -> Result<(Self, Tasks)> {
        let Config { barrier, tokens, minter, acknowledgments, ledger, settings, rail, program } = config;
        let (terms, key) = (ledger.terms, ledger.key.clone());
        let store = Postgres::open(db.clone(), &ledger.key, clock.now()).await.context("cannot use the ledger")?;
        let store = store.with_barrier(barrier.clone());
        let ledger = Ledger::start(store, models.clone(), clock.clone(), ledger).await;
        let (ledger, ledger_task) = ledger.context("cannot start the ledger")?;
        let (courier, courier_task) = rail
            .map(|RailHandle { rail, notifications, claim }| {
                let courier = Courier {
                    db: db.clone(),
                    barrier: barrier.clone(),
                    ledger: ledger.clone(),
                    rail,
                    name: terms.rail,
                    key: key.clone(),
                    clock: clock.clone(),
                    metrics: models.metrics().clone(),
                    claim,
                };
                (courier.clone(), tokio::spawn(courier.run(notifications)))
            })
            .unzip();
        let expiry = Expiry { db: db.clone(), ledger: ledger.clone(), clock: clock.clone() };
        let outbox = Outbox::new(db.clone(), barrier.clone(), clock.clone(), models.metrics().clone());
        let outbox_poll = tokio::spawn(outbox.clone().run());
        let sinks = Sinks {
            db: db.clone(),
            outbox: outbox.clone(),
            key: key.clone(),
            clock: clock.clone(),
            metrics: models.metrics().clone(),
            senders: Arc::default(),
        };
        let (events, events_task) = EventWorker::start(db.clone(), clock.clone());
        let rates = Arc::new(Rates::new(settings.rates));
        let (forgotten, time) = (Arc::clone(&rates), clock.clone());
        let tasks = Tasks {
            refusals: tokio::spawn(Refusals::new(models.metrics().clone()).run()),
            rates: tokio::spawn(async move { forgotten.forget(|| time.now()).await }),
            ledger: ledger_task,
            events: events_task,
            courier: courier_task,
            expiry: tokio::spawn(expiry.run()),
            outbox: outbox.clone(),
            outbox_poll,
            sinks: tokio::spawn(sinks.run()),
        };
        let payee_check: Arc<dyn PayeeCheck> = if minter.is_some() { Arc::new(Sandbox) } else { Arc::new(Unconnected) };
        let pushes =
            Pushes::new(Launcher::new(program).or_unconfined(minter.is_some()), db.clone(), key.clone(), clock.clone());
        let app = Parts {
            db: Connections::new(db),
            key,
            ledger,
            terms,
            barrier,
            courier,
            outbox,
            models,
            pushes,
            replays: Arc::new(Semaphore::new(CONCURRENT_MAX)),
            feeds: Arc::new(Semaphore::new(STREAMS_MAX)),
            events,
            runtime,
            tokens: Arc::new(tokens),
            rates,
            acknowledgments,
            payee_check,
            sandbox: minter.map(Arc::new),
            settings: Arc::new(settings),
            started_at: clock.now(),
            pulse: Arc::default(),
            clock,
        };
        Ok((Self(Arc::new(app)), tasks))
    }
}

impl Tasks {
    /// Stops sending payments and applying the rail's notifications.
    pub fn stop_courier(&self) {
        if let Some(courier) = &self.courier {
            courier.abort();
        }
    }

    /// Stops everything that requests in progress do not need, and ends event streams.
    pub async fn stop_background(&self) {
        self.outbox_poll.abort();
        self.sinks.abort();
        self.expiry.abort();
        self.rates.abort();
        self.refusals.abort();
        self.outbox.close();
        self.stop_courier();
    }

    /// Waits until the ledger has answered every command. All clones of the [`App`] must have been dropped.
    pub async fn finish(self) {
        self.events.abort();
        // A panic was logged where it happened.
        let _ = self.ledger.await;
    }
}
