//! The money core: pure decisions by property, the database's own proofs by sabotage.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "counts are for whoever runs it")]

mod agreement;
mod apply;
mod audit;
#[path = "../simulation/chance.rs"]
mod chance;
#[path = "../simulation/leases.rs"]
mod leases;
mod model;
mod store;
#[path = "../simulation/tables.rs"]
mod tables;
mod tamper;
