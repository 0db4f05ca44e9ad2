//! The result of a check.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static str,
    /// How many rows violate the rule.
    pub broken: i64,
}
