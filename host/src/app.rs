//! The service's state: handles that handlers share.

pub mod start;

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

/// The state of the service. Each clone shares the same parts.
#[derive(Clone)]
pub struct App {
    pub db: PgPool,
    pub ledger: Ledger,
    /// None where payments settle at once.
    pub courier: Option<Courier>,
    pub outbox: Outbox,
    pub models: Models,
    pub pushes: Pushes,
    pub events: EventWorker,
    pub runtime: Runtime,
    pub tokens: Arc<Verifier>,
    pub acknowledgments: Acknowledgments,
    /// Mints the sandbox's tokens; none in production.
    pub sandbox: Option<Arc<Minter>>,
    pub clock: Clock,
    pub settings: Arc<Settings>,
    pub started_at: OffsetDateTime,
}

/// Configured policy.
#[derive(Debug, Clone)]
pub struct Settings {
    /// First credit of each new account: 0.00 in production, 10,000.00 in the sandbox.
    pub opening_credit: Money,
    pub risk_enforcement: Enforcement,
    /// Refuse CLABEs whose check digit is wrong, instead of a warning only.
    pub enforce_clabe: bool,
    /// `Host` names of the assistance listener, without port, in lower case.
    pub assist_hosts: Vec<String>,
    /// Kinds whose active model anyone may download.
    pub published: Vec<ModelKind>,
}
