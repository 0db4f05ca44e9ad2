//! Caudal: a bank's transfer service with swappable models.
//!
//! Read it in this order:
//!
//! - [`schema`]: each field of the APIs, declared once; [`domain`]: the bank's nouns, pure.
//! - [`ledger`]: the money core: decides purely, and writes with one statement that checks itself.
//! - [`wasm`]: the only user of wasmtime; [`scoring`]: what a kind of model is; [`models`]: which versions are
//!   active; [`gate`]: what a component has to pass before it may be deployed.
//! - [`enforcement`]: the consequences of a transfer's risk.
//! - [`rail`]: how payments that settle later leave the bank.
//! - [`outbox`]: transfer events for consumers; [`analytics`]: usage events, with consent.
//! - [`metrics`]: what a host counts; its audit log tells of what concerns security.
//! - [`sealing`]: keyed hashes of rows; [`auth`]: bearer tokens and scopes; [`db`]: all SQL outside the ledger.
//! - [`schedules`]: sends scheduled transfers as requests send theirs.
//! - [`http`]: the APIs, [`ledger_router`] and [`assist_router`].
//! - [`app`]: wires the service; [`config`], [`cli`] and [`postgres`] start it.

pub mod analytics;
pub mod app;
pub(crate) mod audit;
pub mod auth;
pub mod cli;
pub(crate) mod client;
pub mod clock;
pub mod config;
pub mod db;
pub mod domain;
pub mod enforcement;
pub mod gate;
pub mod http;
pub mod ledger;
pub mod metrics;
pub mod models;
pub(crate) mod orders;
pub mod outbox;
pub mod payees;
pub mod postgres;
pub mod rail;
pub(crate) mod replay;
pub mod schedules;
pub mod schema;
pub mod scoring;
pub mod sealing;
mod serve;
pub(crate) mod telemetry;
pub mod wasm;
pub(crate) mod workers;

pub use db::schema::MIGRATOR;
pub use http::{assist_router, ledger_router};
