//! What a model is measured by. Not for printing: see [`crate::card`].

mod calibration;
mod classes;
mod drift;

pub use calibration::{Bin, Reliability, brier, reliability};
pub use classes::{Confusion, Figures, Interval, area_under_curve, bootstrap, mean, wilson};
pub use drift::{Reference, psi, psi_verdict};
