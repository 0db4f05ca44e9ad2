//! Administration of models, accounts and payments by operators.

pub(crate) mod accounts;
pub(crate) mod deployment;
pub(crate) mod payments;
pub(crate) mod replay;
pub(crate) mod versions;
