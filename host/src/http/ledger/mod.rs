//! Handlers of the ledger API.

pub mod accounts;
pub mod analytics;
pub mod beneficiaries;
pub mod bulk;
pub mod entries;
pub(crate) mod events;
pub mod holds;
mod list;
pub(crate) mod orders;
pub mod payee_checks;
pub mod profile;
pub(crate) mod receipts;
pub(crate) mod reports;
pub mod risk_context;
pub mod schedules;
pub(crate) mod statement;
pub mod terms;
pub mod transactions;
