//! What the transfer rules are asked and what they answer.

use super::BadAnswer;
use super::money::Money;
use super::risk;

/// Codes that rules may give; each is a problem code of the HTTP API.
pub const CODES: [&str; 5] =
    [SAME_ACCOUNT, INSUFFICIENT_FUNDS, "limit-exceeded", "beneficiary-cooling", RISK_ACKNOWLEDGMENT_REQUIRED];

/// The beneficiary's account is the debited one.
pub const SAME_ACCOUNT: &str = "same-account";

/// The balance does not cover the amount.
pub const INSUFFICIENT_FUNDS: &str = "insufficient-funds";

/// The risk is high and was not acknowledged.
pub const RISK_ACKNOWLEDGMENT_REQUIRED: &str = "risk-acknowledgment-required";

/// Most violations of one verdict: each code once, and room for as many again.
const VIOLATIONS_MAX: usize = 10;

/// Longest detail of a violation. It is kept with an idempotency key for good.
const DETAIL_CHARS_MAX: usize = 500;

/// Facts about one transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Amount, > 0.
    pub amount: Money,
    /// What the account can spend.
    pub available: Money,
    /// Sent today before this transfer.
    pub day_total: Money,
    /// Limit for one transfer.
    pub per_transfer_limit: Option<Money>,
    /// Limit for one day.
    pub per_day_limit: Option<Money>,
    /// Seconds since the beneficiary was saved.
    pub beneficiary_age_seconds: u64,
    /// Seconds a new beneficiary has to wait.
    pub cooling_seconds: u64,
    /// The beneficiary's number is the debited account's own.
    pub same_account: bool,
    /// Hour in Mexico City, 0 to 23.
    pub local_hour: u8,
    /// Set when the host scored the transfer.
    pub risk_level: Option<risk::Level>,
    /// The person acknowledged that risk.
    pub acknowledged: bool,
}

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Out of [`CODES`].
    pub code: String,
    /// One sentence for people.
    pub detail: String,
}

/// The decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Accepted,
    /// At least one violation, the gravest first.
    Rejected(Vec<Violation>),
}

impl Verdict {
    /// Refuses an answer that no correct rules give.
    ///
    /// # Errors
    /// Names the first thing that is wrong.
    pub fn check(&self) -> Result<(), BadAnswer> {
        let Self::Rejected(violations) = self else { return Ok(()) };
        if violations.is_empty() {
            return Err(BadAnswer("a rejection names no violation"));
        }
        if violations.len() > VIOLATIONS_MAX {
            return Err(BadAnswer("a rejection names too many violations"));
        }
        let is_told = |text: &str| text.chars().count() <= DETAIL_CHARS_MAX && !text.contains(char::is_control);
        if !violations.iter().all(|violation| is_told(&violation.detail)) {
            return Err(BadAnswer("a violation's detail is no short sentence"));
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
    fn rejections_need_known_reasons() {
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
