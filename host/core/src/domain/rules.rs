//! Transfer rules: the facts they decide on and their verdict.

pub mod fact;
pub mod requirement;

use super::BadAnswer;
use super::money::Money;
use super::risk;

/// Codes that rules may return; each is a problem code of the HTTP API.
pub const CODES: [&str; 6] = [
    SAME_ACCOUNT,
    UNKNOWN_ACCOUNT,
    INSUFFICIENT_FUNDS,
    LIMIT_EXCEEDED,
    BENEFICIARY_COOLING,
    RISK_ACKNOWLEDGMENT_REQUIRED,
];

/// The beneficiary's account is the debited account.
pub const SAME_ACCOUNT: &str = "same-account";

/// No account has the beneficiary's number, which would be one of this bank's.
pub const UNKNOWN_ACCOUNT: &str = "unknown-account";

pub const INSUFFICIENT_FUNDS: &str = "insufficient-funds";

const LIMIT_EXCEEDED: &str = "limit-exceeded";

const BENEFICIARY_COOLING: &str = "beneficiary-cooling";

/// The risk is high and was not acknowledged.
pub const RISK_ACKNOWLEDGMENT_REQUIRED: &str = "risk-acknowledgment-required";

/// Twice the number of codes, for rules that report one code for several reasons.
const VIOLATIONS_MAX: usize = 12;

/// Limited because details are stored forever, with idempotency keys.
const DETAIL_CHARS_MAX: usize = 500;

/// What decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeployedRules {
    /// SHA-256 of the component's bytes; empty if there is none.
    pub digest: Vec<u8>,
    /// Of the deployment; 0 if the component came with the program.
    pub epoch: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Above zero.
    pub amount: Money,
    /// Available balance of the account.
    pub available: Money,
    /// Total that the user sent earlier today.
    pub day_total: Money,
    pub per_transfer_limit: Option<Money>,
    pub per_day_limit: Option<Money>,
    pub beneficiary_age_seconds: u64,
    /// Waiting period of a new beneficiary; 0 if there is none.
    pub cooling_seconds: u64,
    /// Whether the beneficiary's number is the debited account's own.
    pub same_account: bool,
    /// In Mexico City, 0 to 23.
    pub local_hour: u8,
    /// `None` if the host did not score the transfer.
    pub risk_level: Option<risk::Level>,
    /// Whether the person acknowledged that risk.
    pub acknowledged: bool,
}

/// A rule that the transfer violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// From [`CODES`].
    pub code: String,
    /// One sentence for the user.
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// Accepted, but a person at the bank decides before it goes on.
    Reviewed,
    /// At least one violation, the most serious first.
    Rejected(Vec<Violation>),
}

impl Verdict {
    /// What verdicts are counted by.
    pub const CLASSES: &[&str] = &["accepted", "rejected", "reviewed"];

    /// An index of [`Self::CLASSES`].
    pub(crate) fn class(&self) -> usize {
        match self {
            Self::Accepted => 0,
            Self::Rejected(_) => 1,
            Self::Reviewed => 2,
        }
    }

    /// Rejects verdicts that no correct rules give.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), BadAnswer> {
        let Self::Rejected(violations) = self else { return Ok(()) };
        if violations.is_empty() {
            return Err(BadAnswer("a rejection names no violation"));
        }
        if violations.len() > VIOLATIONS_MAX {
            return Err(BadAnswer("a rejection names too many violations"));
        }
        let is_presentable = |text: &str| text.chars().count() <= DETAIL_CHARS_MAX && !text.contains(char::is_control);
        if !violations.iter().all(|violation| is_presentable(&violation.detail)) {
            return Err(BadAnswer("a violation's detail is too long or has control characters"));
        }
        if violations.iter().any(|violation| !CODES.contains(&violation.code.as_str())) {
            return Err(BadAnswer("a violation code is unknown"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_need_known_codes() {
        let violation = |code: &str| Violation { code: code.into(), detail: "No.".into() };
        assert!(Verdict::Accepted.check().is_ok());
        assert!(Verdict::Rejected(vec![violation("limit-exceeded")]).check().is_ok());
        assert!(Verdict::Rejected(vec![]).check().is_err());
        assert!(Verdict::Rejected(vec![violation("limit-exceeded"); VIOLATIONS_MAX + 1]).check().is_err());
        for detail in ["x".repeat(DETAIL_CHARS_MAX + 1), "a\0b".to_owned(), "a\nb".to_owned()] {
            assert!(Verdict::Rejected(vec![Violation { detail, ..violation("limit-exceeded") }]).check().is_err());
        }
        assert!(Verdict::Rejected(vec![violation("bad-mood")]).check().is_err());
    }
}
