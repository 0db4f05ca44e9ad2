//! What rules of contract 2 may require of a transfer, and the words for it.

use super::fact::{RULES_FACTS, RulesFact};
use super::{
    BENEFICIARY_COOLING, Facts, INSUFFICIENT_FUNDS, LIMIT_EXCEEDED, RISK_ACKNOWLEDGMENT_REQUIRED, SAME_ACCOUNT,
    UNKNOWN_ACCOUNT, Verdict, Violation,
};
use crate::domain::BadAnswer;
use crate::domain::fact::manifest::{Claims, facts, named};
use crate::domain::money::Money;
use crate::domain::risk::Level;
use Required::Later;

/// Requirements in one answer: as many as a decision table has rows.
const REQUIREMENTS_MAX: usize = 1000;

/// Why rules may reject. To wait, to acknowledge and to be reviewed are requirements of their own.
pub const REASONS: [&str; 4] = [SAME_ACCOUNT, UNKNOWN_ACCOUNT, INSUFFICIENT_FUNDS, LIMIT_EXCEEDED];

crate::text_enum! {
    /// What this host carries out.
    Requirement {
        /// The transfer is refused, for a reason.
        Reject = "reject",
        /// The person has to acknowledge the risk.
        Acknowledge = "acknowledge",
        /// The transfer is refused until some seconds have passed.
        Wait = "wait",
        /// A person at the bank decides before the transfer goes on.
        Review = "review",
    }
}

/// What rules need and may require, in the host's terms.
#[derive(Debug, Clone, Default)]
pub(crate) struct RulesManifest {
    /// In the order of the values.
    facts: Vec<&'static RulesFact>,
    requirements: Vec<Requirement>,
    reasons: Vec<&'static str>,
}

/// A requirement with its parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Required {
    Rejected(&'static str),
    Acknowledged,
    /// Seconds.
    Later(u64),
    Reviewed,
}

impl RulesManifest {
    /// Finds what the component names.
    ///
    /// # Errors
    /// What this host does not have or carry out, by name.
    pub(crate) fn of(claims: &Claims) -> Result<Self, String> {
        let requirements = named("requirement", &claims.requirements, Requirement::ALL, |it| it.as_str())?;
        Ok(Self {
            facts: facts(&claims.facts, RULES_FACTS)?,
            requirements: requirements.into_iter().copied().collect(),
            reasons: named("reason to reject", &claims.reasons, &REASONS, |it| it)?.into_iter().copied().collect(),
        })
    }

    /// The values of its facts.
    pub(crate) fn values(&self, facts: &Facts) -> Vec<Option<f64>> {
        self.facts.iter().map(|fact| fact.value(facts)).collect()
    }

    /// What follows from the requirements, each a code and a parameter. What is required twice counts once, where it comes
    /// first, and the longest wait counts.
    ///
    /// # Errors
    /// When they do not mean anything.
    pub(crate) fn verdict(&self, facts: &Facts, answer: &[(u16, i64)]) -> Result<Verdict, BadAnswer> {
        if answer.len() > REQUIREMENTS_MAX {
            return Err(BadAnswer("more requirements than a decision table has rows"));
        }
        let mut all: Vec<Required> = Vec::new();
        for (code, parameter) in answer {
            let required = self.required(*code, *parameter)?;
            let is_same = |it: &Required| *it == required || matches!((it, required), (Later(_), Later(_)));
            match all.iter().position(is_same) {
                Some(at) => all[at] = required.max(all[at]),
                None => all.push(required),
            }
        }
        let accepted = if all.contains(&Required::Reviewed) { Verdict::Reviewed } else { Verdict::Accepted };
        let violations: Vec<_> = all.into_iter().flat_map(|it| it.violations(facts)).collect();
        Ok(if violations.is_empty() { accepted } else { Verdict::Rejected(violations) })
    }

    fn required(&self, code: u16, parameter: i64) -> Result<Required, BadAnswer> {
        let requirement = self.requirements.get(usize::from(code));
        match requirement.ok_or(BadAnswer("a requirement is not in the manifest"))? {
            Requirement::Reject => {
                let reason = usize::try_from(parameter).ok().and_then(|at| self.reasons.get(at));
                reason.copied().map(Required::Rejected).ok_or(BadAnswer("a reason to reject is not in the manifest"))
            }
            Requirement::Acknowledge if parameter == 0 => Ok(Required::Acknowledged),
            Requirement::Acknowledge => Err(BadAnswer("an acknowledgment has a parameter")),
            Requirement::Wait => match u64::try_from(parameter) {
                Ok(seconds @ 1..) => Ok(Later(seconds)),
                _ => Err(BadAnswer("a wait is shorter than a second")),
            },
            Requirement::Review if parameter == 0 => Ok(Required::Reviewed),
            Requirement::Review => Err(BadAnswer("a review has a parameter")),
        }
    }
}

impl Required {
    /// Nothing if the person has done it, or somebody else is to do something.
    fn violations(self, facts: &Facts) -> Vec<Violation> {
        let violation = |code: &str, detail: String| vec![Violation { code: code.to_owned(), detail }];
        match self {
            Self::Rejected(LIMIT_EXCEEDED) => {
                over_limits(facts).into_iter().flat_map(|detail| violation(LIMIT_EXCEEDED, detail)).collect()
            }
            Self::Rejected(INSUFFICIENT_FUNDS) if facts.amount > facts.available => {
                let (amount, available) = (mxn(facts.amount), mxn(facts.available));
                let detail = format!("The transfer of {amount} is more than the {available} available.");
                violation(INSUFFICIENT_FUNDS, detail)
            }
            Self::Rejected(reason) => violation(reason, about(reason).to_owned()),
            Self::Acknowledged if facts.acknowledged => Vec::new(),
            Self::Reviewed => Vec::new(),
            Self::Acknowledged => {
                let level = if facts.risk_level == Some(Level::High) { "is high: it has" } else { "has" };
                let detail = format!("The risk of this transfer {level} to be acknowledged first.");
                violation(RISK_ACKNOWLEDGMENT_REQUIRED, detail)
            }
            Later(seconds) => {
                let left = facts.cooling_seconds.saturating_sub(facts.beneficiary_age_seconds);
                let why = if seconds == left { "The beneficiary was saved only recently" } else { "It is too early" };
                violation(BENEFICIARY_COOLING, format!("{why}: wait {}.", wait(seconds)))
            }
        }
    }
}

/// What is wrong where no numbers say it better.
fn about(reason: &str) -> &'static str {
    match reason {
        SAME_ACCOUNT => "The beneficiary's account is the account that would be debited.",
        UNKNOWN_ACCOUNT => "No account has the beneficiary's number.",
        _ => "The balance of the account does not allow this transfer.",
    }
}

/// The limits that a transfer exceeds. Rules may have limits that are nobody's fact.
fn over_limits(facts: &Facts) -> Vec<String> {
    let amount = mxn(facts.amount);
    let of_transfer = if facts.amount <= Money::ZERO {
        Some(format!("A transfer must be for more than {}.", mxn(Money::ZERO)))
    } else {
        facts
            .per_transfer_limit
            .filter(|limit| facts.amount > *limit)
            .map(|limit| format!("The transfer of {amount} is over the limit of {} for one transfer.", mxn(limit)))
    };
    let total = Money::from_minor(facts.day_total.minor().saturating_add(facts.amount.minor()));
    let of_day = facts.per_day_limit.filter(|limit| total > *limit).map(|limit| {
        let (total, limit) = (mxn(total), mxn(limit));
        format!("With this transfer, today's total would be {total}, over the limit of {limit} for one day.")
    });
    let over: Vec<_> = of_transfer.into_iter().chain(of_day).collect();
    if over.is_empty() { vec![format!("The transfer of {amount} is over a limit of the bank.")] } else { over }
}

/// A duration in words: seconds below a minute, otherwise minutes, rounded up.
fn wait(seconds: u64) -> String {
    let (count, unit) = if seconds < 60 { (seconds, "second") } else { (seconds.div_ceil(60), "minute") };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} more {unit}{plural}")
}

/// An amount for people, such as `-$1,234.50 MXN`.
fn mxn(amount: Money) -> String {
    let text = amount.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", &*text), |digits| ("-", digits));
    let (pesos, centavos) = digits.split_once('.').unwrap_or((digits, "00"));
    let groups: Vec<_> = pesos.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    format!("{sign}${}.{centavos} MXN", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> RulesManifest {
        RulesManifest { requirements: Requirement::ALL.into(), reasons: REASONS.into(), ..RulesManifest::default() }
    }

    fn details(facts: &Facts, answer: &[(u16, i64)]) -> Vec<String> {
        match manifest().verdict(facts, answer).unwrap() {
            Verdict::Accepted | Verdict::Reviewed => Vec::new(),
            Verdict::Rejected(violations) => violations.into_iter().map(|it| it.detail).collect(),
        }
    }

    #[test]
    fn requirements_become_violations_in_their_order_and_once() {
        let facts =
            Facts { amount: Money::from_minor(123_456_789), available: Money::from_minor(-5), ..Facts::default() };
        let answer = [(2, 59), (0, 2), (1, 0), (0, 3), (2, 3601), (0, 2)];
        let expected = [
            "It is too early: wait 61 more minutes.",
            "The transfer of $1,234,567.89 MXN is more than the -$0.05 MXN available.",
            "The risk of this transfer has to be acknowledged first.",
            "The transfer of $1,234,567.89 MXN is over a limit of the bank.",
        ];
        assert_eq!(details(&facts, &answer), expected);
        let cooling = Facts { cooling_seconds: 60, beneficiary_age_seconds: 1, ..facts.clone() };
        assert_eq!(details(&cooling, &[(2, 59)]), ["The beneficiary was saved only recently: wait 59 more seconds."]);
        assert!(details(&Facts { acknowledged: true, ..facts.clone() }, &[(1, 0)]).is_empty());
        assert!(details(&facts, &[]).is_empty());
    }

    #[test]
    fn a_person_reviews_what_is_not_refused() {
        let reviewed = |answer: &[(u16, i64)]| manifest().verdict(&Facts::default(), answer) == Ok(Verdict::Reviewed);
        assert!(reviewed(&[(3, 0)]) && reviewed(&[(3, 0), (3, 0)]));
        for first in [(0, 0), (1, 0), (2, 1)] {
            assert_eq!(details(&Facts::default(), &[(3, 0), first]), details(&Facts::default(), &[first]));
            assert!(!reviewed(&[first, (3, 0)]));
        }
        let acknowledged = Facts { acknowledged: true, ..Facts::default() };
        assert_eq!(manifest().verdict(&acknowledged, &[(1, 0), (3, 0)]), Ok(Verdict::Reviewed));
    }

    #[test]
    fn answers_without_a_meaning_are_refused() {
        let many = vec![(1, 0); REQUIREMENTS_MAX + 1];
        let verdict = |answer: &[(u16, i64)]| manifest().verdict(&Facts::default(), answer);
        for answer in [
            &[(4, 0)][..],
            &[(3, 1)],
            &[(u16::MAX, 0)],
            &[(0, 4)],
            &[(0, -1)],
            &[(1, 1)],
            &[(2, 0)],
            &[(2, i64::MIN)],
            &many,
        ] {
            assert!(verdict(answer).is_err(), "{answer:?}");
        }
        // The longest answer is still one that can be shown.
        let all: Vec<_> = (0..4).map(|at| (0, at)).chain([(1, 0), (2, i64::MAX)]).collect();
        verdict(&all).unwrap().check().unwrap();
        verdict(&many[1..]).unwrap().check().unwrap();
    }
}
