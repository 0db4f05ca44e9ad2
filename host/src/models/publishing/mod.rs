//! Models for pages and for the npm package.

pub mod package;
pub mod published;
pub(crate) mod shelf;
