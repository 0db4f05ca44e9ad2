//! Administration of models and accounts by operators.

pub(crate) mod accounts;
pub(crate) mod deployment;
pub(crate) mod replay;
pub(crate) mod versions;
