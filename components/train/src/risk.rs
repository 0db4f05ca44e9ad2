//! Risk: data, fit, measures, card, golden cases.

pub mod card;
pub mod evaluation;
pub mod fit;
pub mod generator;
pub mod golden;
pub mod monotone;
pub mod rows;
pub mod threshold;
