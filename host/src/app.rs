//! What handlers share. Cheap to clone; each clone is a handle to the same things.

use std::sync::Arc;

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::analytics::EventWorker;
use crate::auth::token::{Minter, Verifier};
use crate::clock::Clock;
use crate::domain::model::ModelKind;
use crate::domain::money::Money;
use crate::domain::risk::Enforcement;
use crate::enforcement::acknowledgment::Acknowledgments;
use crate::gate::pushes::Pushes;
use crate::ledger::Ledger;
use crate::models::Models;
use crate::outbox::Outbox;
use crate::rail::courier::Courier;
use crate::wasm::Runtime;

/// The state of the service.
#[derive(Clone)]
pub struct App {
    /// Connections.
    pub db: PgPool,
    /// The money core.
    pub ledger: Ledger,
    /// Who brings payments to their rail; none where they settle at once.
    pub courier: Option<Courier>,
    /// What happens to transfers.
    pub outbox: Outbox,
    /// What scores.
    pub models: Models,
    /// Examines and registers components.
    pub pushes: Pushes,
    /// Stores what is queued.
    pub events: EventWorker,
    /// Compiles components that are asked again.
    pub runtime: Runtime,
    /// Checks bearer tokens.
    pub tokens: Arc<Verifier>,
    /// Makes and reads what says that a risk was seen.
    pub acknowledgments: Acknowledgments,
    /// Makes tokens for whoever tries the sandbox; none in production.
    pub sandbox: Option<Arc<Minter>>,
    /// The time.
    pub clock: Clock,
    /// Policy that the configuration sets.
    pub settings: Arc<Settings>,
    /// When the service started.
    pub started_at: OffsetDateTime,
}

/// Policy that the configuration sets.
#[derive(Debug, Clone)]
pub struct Settings {
    /// First credit of each new account: 0.00 in production, 10,000.00 in the sandbox.
    pub opening_credit: Money,
    /// What the risk of a transfer does to it.
    pub risk_enforcement: Enforcement,
    /// Refuse CLABEs that fail their check digit; otherwise they only get a warning.
    pub enforce_clabe: bool,
    /// `Host` names that the assistance listener answers to, without port, in lower case.
    pub assist_hosts: Vec<String>,
    /// Kinds whose active model anybody may fetch.
    pub published: Vec<ModelKind>,
}
