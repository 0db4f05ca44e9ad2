//! Administration of models by operators.

pub(crate) mod deployment;
pub(crate) mod replay;
pub(crate) mod versions;
