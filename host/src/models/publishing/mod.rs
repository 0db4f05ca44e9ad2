//! What pages and the npm package get of the active models.

pub mod package;
pub mod published;
