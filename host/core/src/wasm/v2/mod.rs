//! Contract 2, a package for each kind: bindings and conversions.

mod risk;
mod rules;

pub(super) use risk::Risk;
pub(super) use rules::TransferRules;

/// The package of each kind that has one.
pub(super) const RISK: &str = "caudal:risk@2.0.0";
pub(super) const RULES: &str = "caudal:rules@2.0.0";
