//! Administration of models and accounts by operators.

pub(crate) mod accounts;
pub(crate) mod deployment;
mod if_match;
pub(crate) mod replay;
pub(crate) mod versions;
