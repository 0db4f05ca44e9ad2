//! What each listener serves: one table for its router and its OpenAPI document.

mod assist;
mod foreign;
mod ledger;

pub use assist::ASSIST;
pub use ledger::LEDGER;
