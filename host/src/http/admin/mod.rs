//! What operators do to models.

pub(crate) mod deployment;
pub(crate) mod replay;
pub(crate) mod versions;
