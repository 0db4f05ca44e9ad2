//! Compares challengers with the champion.

pub(crate) mod drift;
pub mod evidence;
pub(crate) mod interval;
pub(crate) mod measure;
pub mod observer;
pub mod report;
pub mod traffic;
pub(crate) mod users;
pub(crate) mod watch;
