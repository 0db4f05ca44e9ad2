//! Routes requests to versions.

pub(crate) mod active;
pub mod answer;
mod breaker;
pub(crate) mod component;
pub(crate) mod embedded;
pub(crate) mod model;
pub(crate) mod registry;
pub mod route;
pub mod split;
mod turns;
