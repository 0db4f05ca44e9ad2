//! Caudal: a bank's transfer service with its models beside it.
//!
//! Read it in this order:
//!
//! - [`schema`]: what goes over the wire, each field declared once; [`domain`]: the bank's nouns, pure.
//! - [`ledger`]: the money core: decide purely, write with one statement that proves itself.
//! - [`wasm`]: the fence around wasmtime; [`models`]: which component version serves.
//! - [`rail`]: the way out of the bank for payments that settle later.
//! - [`outbox`]: what happened to transfers, for consumers.
//! - [`db`]: the SQL of everything else; [`analytics`]: events under consent.
//! - [`http`]: the edge: [`ledger_router`] and [`assist_router`].
//! - [`app`] is what handlers share; [`config`], [`cli`] and [`postgres`] start it all.

pub mod analytics;
pub mod app;
pub mod auth;
pub mod cli;
pub mod clock;
pub mod config;
pub mod db;
pub mod domain;
pub mod enforcement;
pub mod gate;
pub mod http;
pub mod ledger;
pub mod models;
pub mod outbox;
pub mod postgres;
pub mod rail;
pub(crate) mod replay;
pub mod schema;
pub mod scoring;
mod serve;
pub mod wasm;

pub use http::{assist_router, ledger_router};

/// The database's shape; run when a host starts.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");
