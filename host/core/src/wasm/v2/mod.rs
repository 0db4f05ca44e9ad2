//! Contract 2, a package for each kind: bindings and conversions.

mod risk;

pub(super) use risk::Risk;

/// The package of each kind that has one.
pub(super) const RISK: &str = "caudal:risk@2.0.0";
