//! The program as an operator uses it: started, used over real sockets, stopped, killed.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod caution;
mod collector;
mod commands;
mod components;
mod config;
mod doctor;
mod elsewhere;
mod evidence;
mod faults;
mod fork;
mod freezing;
mod ledger;
mod lifecycle;
mod listeners;
mod manual;
mod models;
mod outcomes;
mod process;
mod receipt;
mod reconcile;
mod roles;
mod rollout;
mod score;
mod secrets;
mod server;
mod signing;
mod telemetry;
mod transport;

impl process::DataDir {
    /// The folder.
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }
}
