//! The bank's policy on transfers: which rules a transfer violates, and the transitions of its status.
//!
//! This is policy only: the ledger and the database enforce that money is conserved and that a balance
//! covers its debit. These rules can reject a transfer but never create money.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const CENTAVOS_PER_PESO: u64 = 100;
/// The risk level that requires an acknowledgment.
const LEVEL_TO_ACKNOWLEDGE: &str = "high";

/// Facts about one transfer. Amounts are in centavos of MXN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// > 0.
    pub amount: i64,
    /// Available balance of the debited account.
    pub available: i64,
    /// Total that the user has sent today, excluding this transfer.
    pub day_total: i64,
    pub per_transfer_limit: Option<i64>,
    pub per_day_limit: Option<i64>,
    /// Time since the beneficiary was saved.
    pub beneficiary_age_seconds: u64,
    /// Waiting period of a new beneficiary; 0 if there is none.
    pub cooling_seconds: u64,
    /// The beneficiary's account is the debited account.
    pub same_account: bool,
    /// Hour in Mexico City, 0 to 23. No rule of this version uses it.
    pub local_hour: u8,
    /// `low`, `medium` or `high` if the host scored the transfer.
    pub risk_level: Option<&'a str>,
    /// The person has acknowledged that risk.
    pub acknowledged: bool,
}

/// A rule that the transfer violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Problem code of the HTTP API, for example `insufficient-funds`.
    pub code: &'static str,
    /// One English sentence.
    pub detail: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// At least one violation, the most serious first.
    Rejected(Vec<Violation>),
}

/// Decides on one transfer.
///
/// Violations are ordered by seriousness: same account, funds, limits, waiting period, risk. Sums
/// saturate, so no amount is too large to be rejected.
#[must_use]
pub fn decide(facts: &Facts<'_>) -> Verdict {
    let violations: Vec<Violation> = [
        same_account(facts),
        insufficient_funds(facts),
        transfer_limit(facts),
        day_limit(facts),
        cooling(facts),
        risk(facts),
    ]
    .into_iter()
    .flatten()
    .collect();
    if violations.is_empty() { Verdict::Accepted } else { Verdict::Rejected(violations) }
}

/// The status that follows `status` on `event`, or `None` if the event does not apply.
///
/// Only `pending` changes. A completed transfer is final: money returned later is a new credit.
#[must_use]
pub fn transition(status: &str, event: &str) -> Option<&'static str> {
    match (status, event) {
        ("pending", "settled") => Some("completed"),
        ("pending", "rejected") => Some("failed"),
        _ => None,
    }
}

fn violation(code: &'static str, detail: String) -> Violation {
    Violation { code, detail }
}

fn same_account(facts: &Facts<'_>) -> Option<Violation> {
    facts
        .same_account
        .then(|| violation("same-account", "The beneficiary's account is the account that would be debited.".into()))
}

fn insufficient_funds(facts: &Facts<'_>) -> Option<Violation> {
    (facts.amount > facts.available).then(|| {
        violation(
            "insufficient-funds",
            format!("The transfer of {} is more than the {} available.", mxn(facts.amount), mxn(facts.available)),
        )
    })
}

/// The limit of one transfer. Amounts of zero or less are always rejected: no host sends one, and
/// accepting one would be the worst mistake.
fn transfer_limit(facts: &Facts<'_>) -> Option<Violation> {
    const CODE: &str = "limit-exceeded";
    if facts.amount <= 0 {
        return Some(violation(CODE, format!("A transfer must be for more than {}.", mxn(0))));
    }
    let limit = facts.per_transfer_limit?;
    (facts.amount > limit).then(|| {
        violation(
            CODE,
            format!("The transfer of {} is over the limit of {} for one transfer.", mxn(facts.amount), mxn(limit)),
        )
    })
}

fn day_limit(facts: &Facts<'_>) -> Option<Violation> {
    let limit = facts.per_day_limit?;
    let total = facts.day_total.saturating_add(facts.amount);
    (total > limit).then(|| {
        violation(
            "limit-exceeded",
            format!(
                "With this transfer, today's total would be {}, over the limit of {} for one day.",
                mxn(total),
                mxn(limit)
            ),
        )
    })
}

fn cooling(facts: &Facts<'_>) -> Option<Violation> {
    let left = facts.cooling_seconds.saturating_sub(facts.beneficiary_age_seconds);
    (left > 0).then(|| {
        violation("beneficiary-cooling", format!("The beneficiary was saved only recently: wait {}.", wait(left)))
    })
}

fn risk(facts: &Facts<'_>) -> Option<Violation> {
    (facts.risk_level == Some(LEVEL_TO_ACKNOWLEDGE) && !facts.acknowledged).then(|| {
        violation(
            "risk-acknowledgment-required",
            "The risk of this transfer is high: it has to be acknowledged first.".into(),
        )
    })
}

/// A duration in words: seconds below a minute, otherwise minutes, rounded up.
fn wait(seconds: u64) -> String {
    const SECONDS_PER_MINUTE: u64 = 60;
    let (count, unit) = if seconds < SECONDS_PER_MINUTE {
        (seconds, "second")
    } else {
        (seconds.div_ceil(SECONDS_PER_MINUTE), "minute")
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} more {unit}{plural}")
}

/// Formats centavos as in `-$1,234.50 MXN`.
fn mxn(centavos: i64) -> String {
    const GROUP: usize = 3;
    let sign = if centavos < 0 { "-" } else { "" };
    let magnitude = centavos.unsigned_abs();
    let pesos = format!("{}", magnitude / CENTAVOS_PER_PESO);
    let mut grouped = String::new();
    for (at, digit) in pesos.chars().enumerate() {
        if at > 0 && (pesos.len() - at).is_multiple_of(GROUP) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}${grouped}.{:02} MXN", magnitude % CENTAVOS_PER_PESO)
}
