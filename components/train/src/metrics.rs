//! Metrics of a model.

mod calibration;
mod classes;
mod drift;

pub use calibration::{Reliability, brier, reliability};
pub use classes::{Confusion, Figures, Interval, bootstrap, wilson};
pub(crate) use classes::{area_under_curve, mean};
pub use drift::Reference;
