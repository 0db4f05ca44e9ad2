//! Accessibility: data, fit, measures, card, golden cases.

pub mod card;
pub mod evaluation;
pub mod fit;
pub mod generator;
pub mod golden;
