//! The assistance API.

pub(crate) mod scores;
