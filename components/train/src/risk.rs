//! Risk models.

use caudal_model::risk::Level;

pub(crate) mod card;
pub(crate) mod evaluation;
pub mod fit;
pub mod generator;
pub mod golden;
pub mod monotone;

/// In ascending order.
pub(crate) const LEVELS: [Level; 3] = [Level::Low, Level::Medium, Level::High];
