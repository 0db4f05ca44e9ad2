//! The bank's policy on transfers: which rules one transfer breaks, and how statuses move.
//!
//! Policy only. That money is conserved and that a balance covers its debit is also fixed in the
//! ledger core and in the database; this module can refuse a transfer, and can never create money.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Centavos in a peso.
const CENTAVOS_PER_PESO: u64 = 100;
/// The risk level that asks for an acknowledgment.
const LEVEL_TO_ACKNOWLEDGE: &str = "high";

/// Facts about one transfer. Money is in centavos of MXN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Amount, > 0.
    pub amount: i64,
    /// What the debited account can spend.
    pub available: i64,
    /// What the user already sent today, this transfer not included.
    pub day_total: i64,
    /// Limit for one transfer, when there is one.
    pub per_transfer_limit: Option<i64>,
    /// Limit for one day, when there is one.
    pub per_day_limit: Option<i64>,
    /// Seconds since the beneficiary was saved.
    pub beneficiary_age_seconds: u64,
    /// Seconds that a new beneficiary has to wait; 0 for none.
    pub cooling_seconds: u64,
    /// The beneficiary's account number is the debited account's own.
    pub same_account: bool,
    /// Hour in Mexico City, 0 to 23. No rule of this version looks at it.
    pub local_hour: u8,
    /// `low`, `medium` or `high`, when the host scored the transfer.
    pub risk_level: Option<&'a str>,
    /// The person acknowledged that risk.
    pub acknowledged: bool,
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Problem code of the HTTP API, for example `insufficient-funds`.
    pub code: &'static str,
    /// One English sentence for people.
    pub detail: String,
}

/// The decision on one transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The transfer may go on.
    Accepted,
    /// It may not; at least one violation, the gravest first.
    Rejected(Vec<Violation>),
}

/// Decides on one transfer.
///
/// Violations come in a fixed order, the gravest first: the same account, funds, limits, cooling,
/// risk. Sums saturate, so no amount is too large to be refused.
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

/// The status that follows `status` on `event`; none when the event does not apply.
///
/// Only `pending` moves: to `completed` when settled, to `failed` when rejected. A settled transfer
/// is final, and money that comes back later is a new credit.
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

/// The limit of one transfer. Its lower end is always in force: a host never sends an amount of
/// zero or less, and if one did, accepting it would be the worst answer.
fn transfer_limit(facts: &Facts<'_>) -> Option<Violation> {
    const CODE: &str = "limit-exceeded";
    if facts.amount <= 0 {
        return Some(violation(CODE, format!("A transfer moves more than {}.", mxn(0))));
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
                "With this transfer today's total is {}, over the limit of {} for one day.",
                mxn(total),
                mxn(limit)
            ),
        )
    })
}

fn cooling(facts: &Facts<'_>) -> Option<Violation> {
    let left = facts.cooling_seconds.saturating_sub(facts.beneficiary_age_seconds);
    (left > 0).then(|| {
        violation("beneficiary-cooling", format!("The beneficiary was saved a short time ago: wait {}.", wait(left)))
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

/// A waiting time for people: seconds below a minute, else whole minutes rounded up.
fn wait(seconds: u64) -> String {
    const SECONDS_PER_MINUTE: u64 = 60;
    let (count, unit) = if seconds < SECONDS_PER_MINUTE {
        (seconds, "second")
    } else {
        (seconds.div_ceil(SECONDS_PER_MINUTE), "minute")
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} more")
}

/// Centavos as people write pesos: `-$1,234.50 MXN`.
fn mxn(centavos: i64) -> String {
    /// Digits between two thousands separators.
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
