//! The result of a check.

use crate::clock::CLOCK_SKEW_MAX;

/// How far the clocks of two hosts may be apart.
pub(super) const SKEW_SECONDS: f64 = 2.0 * CLOCK_SKEW_MAX.as_seconds_f64();

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: String,
    /// How many rows violate the rule.
    pub broken: i64,
}

impl Finding {
    /// Adds findings of another part of the ledger.
    pub(crate) fn merge(all: &mut Vec<Self>, more: Vec<Self>) {
        for finding in more {
            match all.iter_mut().find(|it| it.rule == finding.rule) {
                Some(same) => same.broken += finding.broken,
                None => all.push(finding),
            }
        }
    }
}
