//! Wires the service: the one place where its parts are created and connected, for `caudal serve` and for tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::analytics::EventWorker;
use crate::app::{App, Settings};
use crate::auth::token::{Minter, TokenConfig, Verifier};
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::enforcement::acknowledgment::Acknowledgments;
use crate::gate::launcher::Launcher;
use crate::gate::pushes::Pushes;
use crate::ledger::expiry::Expiry;
use crate::ledger::store::Postgres;
use crate::ledger::{Ledger, LedgerConfig};
use crate::models::Models;
use crate::outbox::Outbox;
use crate::rail::courier::Courier;
use crate::rail::{Notification, Rail};
use crate::wasm::Runtime;

/// The configuration of an [`App`].
pub struct Config {
    /// Of the pool.
    pub barrier: Barrier,
    /// Signs bearer tokens and risk acknowledgments.
    pub secret: Vec<u8>,
    pub tokens: TokenConfig,
    pub ledger: LedgerConfig,
    pub settings: Settings,
    /// `None` if payments settle at once.
    pub rail: Option<RailHandle>,
    /// Whether anyone can get a token for any user.
    pub sandbox: bool,
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
        let Config { barrier, secret, tokens, ledger, settings, rail, sandbox, program } = config;
        let (name, key) = (ledger.terms.rail, ledger.key.clone());
        let store = Postgres::open(db.clone(), &ledger.key, clock.now()).await.context("cannot use the ledger")?;
        let store = store.with_durability(barrier.durability());
        let ledger = Ledger::start(store, models.clone(), clock.clone(), ledger).await;
        let (ledger, ledger_task) = ledger.context("cannot start the ledger")?;
        let (courier, courier_task) = rail
            .map(|RailHandle { rail, notifications, claim }| {
                let courier = Courier {
                    db: db.clone(),
                    durability: barrier.durability(),
                    ledger: ledger.clone(),
                    rail,
                    name,
                    clock: clock.clone(),
                    claim,
                };
                (courier.clone(), tokio::spawn(courier.run(notifications)))
            })
            .unzip();
        let expiry = Expiry { db: db.clone(), ledger: ledger.clone(), clock: clock.clone() };
        let outbox = Outbox::new(db.clone(), barrier.clone());
        let outbox_poll = tokio::spawn(outbox.clone().run());
        let (events, events_task) = EventWorker::start(db.clone(), clock.clone());
        let tasks = Tasks {
            ledger: ledger_task,
            events: events_task,
            courier: courier_task,
            expiry: tokio::spawn(expiry.run()),
            outbox: outbox.clone(),
            outbox_poll,
        };
        let app = Self {
            key: key.clone(),
            ledger,
            barrier,
            courier,
            outbox,
            models,
            pushes: Pushes::new(Launcher::new(program), db.clone(), key, clock.clone()),
            events,
            runtime,
            tokens: Arc::new(Verifier::new(&secret, tokens.clone())),
            acknowledgments: Acknowledgments::new(&secret),
            sandbox: sandbox.then(|| Arc::new(Minter::new(&secret, tokens))),
            settings: Arc::new(settings),
            started_at: clock.now(),
            clock,
            db,
        };
        Ok((app, tasks))
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
        self.expiry.abort();
        self.outbox.close().await;
        self.stop_courier();
    }

    /// Waits until the ledger has answered every command. All clones of the [`App`] must have been dropped.
    pub async fn finish(self) {
        self.events.abort();
        // A panic was logged where it happened.
        let _ = self.ledger.await;
    }
}
