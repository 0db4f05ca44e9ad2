//! What a component has to pass before it may be registered.

pub(crate) mod cases;
pub(crate) mod examination;
pub(crate) mod promises;
pub mod pushes;
pub mod report;
