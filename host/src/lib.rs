//! Caudal's HTTP APIs and commands. What they are made of is the crate `caudal-core`, whose modules are part of this one.
//!
//! Read it in this order:
//!
//! - [`http`]: the APIs, [`ledger_router`] and [`assist_router`].
//! - [`schedules`]: sends scheduled transfers as requests send theirs.
//! - [`app`]: wires the service; [`config`] and [`cli`] start it.

pub mod app;
pub mod cli;
pub mod config;
pub mod http;
pub(crate) mod orders;
pub mod schedules;
mod serve;

pub use caudal_core::{
    MIGRATOR, analytics, audit, auth, client, clock, db, decision, domain, enforcement, gate, ledger, metrics, models,
    outbox, payees, postgres, rail, replay, schema, scoring, sealing, sinks, telemetry, wasm, workers,
};
pub use http::{assist_router, ledger_router};
