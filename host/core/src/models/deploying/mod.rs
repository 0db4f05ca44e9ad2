//! Puts versions into service.

pub mod built_in;
pub mod catalog;
mod kept;
mod loading;
mod references;
mod reporter;
pub mod rollback;
pub mod rollout;
pub mod setback;
pub mod swap;
mod traffic_writer;
mod upkeep;
mod withdrawal;
