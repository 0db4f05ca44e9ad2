//! Compares challengers with the champion.

pub(crate) mod drift;
pub(crate) mod measure;
pub mod observer;
pub mod report;
pub(crate) mod watch;
