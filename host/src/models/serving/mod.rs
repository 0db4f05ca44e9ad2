//! Which component version answers.

pub(crate) mod breaker;
pub(crate) mod embedded;
pub(crate) mod loaded;
pub mod route;
pub mod scorer;
pub(crate) mod served;
pub mod split;
