//! Handlers of the ledger API.

pub mod accounts;
pub mod analytics;
pub mod beneficiaries;
pub mod entries;
pub(crate) mod events;
mod list;
pub mod profile;
pub mod risk_context;
pub mod transactions;
