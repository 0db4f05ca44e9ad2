//! Puts versions into service.

mod bookkeeper;
pub mod built_in;
pub mod catalog;
mod loading;
mod reporter;
pub mod rollback;
pub mod rollout;
pub mod setback;
pub mod swap;
mod upkeep;
mod withdrawal;
