//! The kinds of scorers.

pub(crate) mod bodies;
