//! Nudge models.

pub(crate) mod card;
pub mod evaluation;
pub mod fit;
pub mod generator;
pub mod golden;
