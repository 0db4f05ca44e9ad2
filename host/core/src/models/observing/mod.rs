//! Compares challengers with the champion.

pub(crate) mod drift;
pub mod evidence;
pub mod interval;
pub mod measure;
pub mod observer;
pub mod report;
#[cfg(test)]
mod simulated;
pub mod tally;
pub(crate) mod trial;
pub(crate) mod users;
mod witnesses;
