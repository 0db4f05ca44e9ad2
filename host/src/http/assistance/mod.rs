//! The assistance API.

pub(crate) mod explanations;
pub(crate) mod scores;
