//! Contract 1, `caudal:scoring@1`: bindings and conversions, one file for each kind.
//!
//! A file generates the bindings of its world, wraps them with a macro of [`adapter`], and converts between
//! domain types and the generated ones.

mod accessibility;
mod adapter;
mod nudge;
mod risk;
mod rules;

pub(crate) use accessibility::Accessibility;
pub(crate) use nudge::Nudge;
pub(crate) use risk::Risk;
pub(super) use rules::TransferRules;

/// The WIT package.
pub(super) const PACKAGE: &str = "caudal:scoring@1.0.0";
