//! Models for pages and for the npm package.

mod abi;
mod entry;
pub mod package;
pub mod part;
pub mod published;
pub(crate) mod shelf;
pub mod terms;
