//! The money core: properties of pure decisions, and sabotage of what the database proves.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]
#![expect(clippy::print_stdout, reason = "prints counts for the reader")]

mod agreement;
mod altered;
mod apply;
#[path = "../simulation/chance.rs"]
mod chance;
mod forgery;
mod lateness;
#[path = "../simulation/leases.rs"]
mod leases;
mod limits;
mod losses;
mod model;
mod operations;
#[path = "../random.rs"]
mod random;
mod received;
mod recovery;
mod rotation;
mod schema;
mod since;
mod store;
#[path = "../simulation/tables.rs"]
mod tables;
mod tamper;
mod totals;
mod undone;
