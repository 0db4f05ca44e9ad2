//! The service's state, shared by all HTTP handlers.

pub mod start;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgConnection;
use time::OffsetDateTime;
use tokio::sync::Semaphore;

use crate::analytics::EventWorker;
use crate::auth::minter::Minter;
use crate::auth::network::Network;
use crate::auth::rates::{RateLimits, Rates};
use crate::auth::token::Verifier;
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::db::connections::Connections;
use crate::db::pulse::Pulse;
use crate::db::session::checked_time;
use crate::domain::clabe::ClabeRange;
use crate::domain::model::ModelKind;
use crate::domain::money::Money;
use crate::domain::risk::Enforcement;
use crate::enforcement::acknowledgment::Acknowledgments;
use crate::gate::pushes::Pushes;
use crate::ledger::Ledger;
use crate::ledger::batch::Terms;
use crate::models::Models;
use crate::models::signing::ModelKeys;
use crate::outbox::Outbox;
use crate::payees::PayeeCheck;
use crate::rail::courier::Courier;
use crate::sealing::ChainKey;
use crate::wasm::Runtime;

/// The state of the service, as handlers get it. Every request clones it several times, so it is one pointer.
#[derive(Clone)]
pub struct App(Arc<Parts>);

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// This app, with connections from `db`.
    pub(crate) fn with_connections(&self, db: Connections) -> Self {
        Self(Arc::new(Parts { db, ..Parts::clone(self) }))
    }

    /// The time, for what is decided by it.
    pub(crate) async fn now(&self, db: &mut PgConnection) -> Result<OffsetDateTime, sqlx::Error> {
        checked_time(db, &self.clock).await
    }

    /// All metrics as of now, in the OpenMetrics text format.
    pub(crate) fn metrics_text(&self) -> String {
        let metrics = self.models.metrics();
        self.ledger.measure();
        let (open, idle) = (i64::from(self.db.size()), i64::try_from(self.db.num_idle()).unwrap_or(i64::MAX));
        metrics.pool_connections.of(["used"]).set(open - idle);
        metrics.pool_connections.of(["idle"]).set(idle);
        metrics.pool_connections.of(["most"]).set(self.db.options().get_max_connections().into());
        metrics.text()
    }
}

/// The parts of the service. Clones share them.
#[derive(Clone)]
pub struct Parts {
    pub db: Connections,
    /// Records changes to what is not money.
    pub key: ChainKey,
    pub ledger: Ledger,
    /// The ledger decides under these.
    pub terms: Terms,
    /// Holds responses until what they read is replicated.
    pub barrier: Barrier,
    /// `None` if payments settle at once.
    pub courier: Option<Courier>,
    pub outbox: Outbox,
    pub models: Models,
    pub pushes: Pushes,
    /// Limits concurrent replays.
    pub replays: Arc<Semaphore>,
    /// Limits concurrent streams of everybody's events.
    pub feeds: Arc<Semaphore>,
    pub events: EventWorker,
    pub runtime: Runtime,
    pub tokens: Arc<Verifier>,
    pub rates: Arc<Rates>,
    pub acknowledgments: Acknowledgments,
    /// Asks other banks for their holders.
    pub payee_check: Arc<dyn PayeeCheck>,
    /// Mints the sandbox's tokens; `None` in production.
    pub sandbox: Option<Arc<Minter>>,
    pub clock: Clock,
    pub settings: Arc<Settings>,
    pub started_at: OffsetDateTime,
    /// For readiness.
    pub pulse: Arc<Pulse>,
}

/// Configured policy.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Opening credit of each new account: 0.00 in production, 10,000.00 in the sandbox.
    pub opening_credit: Money,
    /// How long reads are repeated while there is no primary.
    pub failover_wait: Duration,
    pub risk_enforcement: Enforcement,
    /// Reject CLABEs with a wrong check digit, rather than only warn.
    pub enforce_clabe: bool,
    /// From which account numbers are issued.
    pub clabe_range: Option<ClabeRange>,
    /// Whether the ledger API requires scopes.
    pub api_scopes: bool,
    /// Whether the ledger API requires tokens that are bound to a key.
    pub require_proof: bool,
    pub rates: RateLimits,
    /// Proxies that say for whom they ask.
    pub trusted_proxies: Vec<Network>,
    /// What takes two operators; `None` if one is enough for everything.
    pub approvals: Option<ApprovalPolicy>,
    /// Clients whose tokens count for operators; empty for any but the bank page's.
    pub operator_clients: Vec<String>,
    /// How the bank page signs people in, if it does.
    pub sign_in: Option<SignIn>,
    /// How the console signs operators in, if it does.
    pub console_sign_in: Option<SignIn>,
    /// Whether users may type the number of a new account.
    pub typed_numbers: bool,
    /// `Host` names that the assistance listener accepts, without port, in lower case.
    pub assist_hosts: Vec<String>,
    /// Kinds whose active model anyone may download.
    pub published: Vec<ModelKind>,
    /// Who may sign components.
    pub model_keys: Arc<ModelKeys>,
}

/// When a second operator has to approve.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalPolicy {
    /// How long a proposal can be approved.
    pub lifetime: Duration,
    /// The highest own limit of a user that one operator can set.
    pub limit: Money,
}

/// A page as a client of the OpenID provider.
#[derive(Debug, Clone)]
pub struct SignIn {
    pub issuer: String,
    pub client_id: String,
    pub scope: String,
    /// The audience of its access tokens (RFC 8707).
    pub resource: String,
    /// Whether it may ask for tokens that are bound to a key.
    pub binds_tokens: bool,
}
