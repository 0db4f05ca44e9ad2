//! Caudal without HTTP: the ledger, the models, the rails, and the database below them.
//!
//! Read it in this order:
//!
//! - [`schema`]: each field of the APIs, declared once; [`domain`]: the bank's nouns, pure.
//! - [`ledger`]: the money core: decides purely, and writes with one statement that checks itself.
//! - [`wasm`]: the only user of wasmtime; [`scoring`]: what a kind of model is; [`models`]: which versions are
//!   active; [`gate`]: what a component has to pass before it may be deployed.
//! - [`enforcement`]: the consequences of a transfer's risk.
//! - [`rail`]: how payments that settle later leave the bank.
//! - [`outbox`]: events for consumers; [`sinks`]: delivers them; [`analytics`]: usage events, with consent.
//! - [`metrics`]: what a host counts; [`audit`]: its log of what concerns security.
//! - [`sealing`]: keyed hashes of rows; [`auth`]: bearer tokens and scopes; [`db`]: all SQL outside the ledger.
//! - [`postgres`]: the database's programs and processes.

pub mod analytics;
pub mod audit;
pub mod auth;
pub mod client;
pub mod clock;
pub mod db;
pub mod decision;
pub mod domain;
pub mod enforcement;
pub mod gate;
pub mod ledger;
pub mod metrics;
pub mod models;
pub mod outbox;
pub mod payees;
pub mod postgres;
pub mod rail;
pub mod replay;
pub mod schema;
pub mod scoring;
pub mod sealing;
pub mod sinks;
pub mod telemetry;
pub mod wasm;
pub mod workers;

pub use db::schema::MIGRATOR;
