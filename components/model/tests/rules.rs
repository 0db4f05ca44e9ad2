//! Transfer rules: an example of each violation, their order, and what no policy may accept.

use caudal_model::rules::{Facts, Verdict, Violation, decide, transition};
use proptest::prelude::*;

/// A transfer of 100.00 that violates no rule.
fn fine() -> Facts<'static> {
    Facts {
        amount: 10_000,
        available: 50_000,
        day_total: 0,
        per_transfer_limit: None,
        per_day_limit: None,
        beneficiary_age_seconds: 0,
        cooling_seconds: 0,
        same_account: false,
        local_hour: 12,
        risk_level: None,
        acknowledged: false,
    }
}

fn violations(facts: &Facts<'_>) -> Vec<Violation> {
    match decide(facts) {
        Verdict::Accepted => Vec::new(),
        Verdict::Rejected(violations) => {
            assert!(!violations.is_empty(), "a rejection without a reason");
            violations
        }
    }
}

fn check(name: &str, facts: Facts<'_>, codes: &[&str]) {
    let got: Vec<_> = violations(&facts).iter().map(|violation| violation.code).collect();
    assert_eq!(got, codes, "{name}");
}

#[test]
fn each_rule_has_its_edge() {
    let f = fine();
    check("fine", f, &[]);
    check("the whole balance", Facts { available: 10_000, ..f }, &[]);
    check("a centavo short", Facts { available: 9_999, ..f }, &["insufficient-funds"]);
    check("nothing there", Facts { available: 0, ..f }, &["insufficient-funds"]);
    check("overdrawn", Facts { available: -1, ..f }, &["insufficient-funds"]);
    check("a centavo", Facts { amount: 1, ..f }, &[]);
    check("nothing to send", Facts { amount: 0, ..f }, &["limit-exceeded"]);
    check("less than nothing", Facts { amount: i64::MIN, ..f }, &["limit-exceeded"]);
    check("at the limit of a transfer", Facts { per_transfer_limit: Some(10_000), ..f }, &[]);
    check("over it", Facts { per_transfer_limit: Some(9_999), ..f }, &["limit-exceeded"]);
    check("at the day's limit", Facts { day_total: 5_000, per_day_limit: Some(15_000), ..f }, &[]);
    check("over it", Facts { day_total: 5_001, per_day_limit: Some(15_000), ..f }, &["limit-exceeded"]);
    check("sums saturate", Facts { day_total: i64::MAX, per_day_limit: Some(15_000), ..f }, &["limit-exceeded"]);
    check("no cooling", Facts { cooling_seconds: 0, ..f }, &[]);
    check("cooled", Facts { cooling_seconds: 1800, beneficiary_age_seconds: 1800, ..f }, &[]);
    check("cooling", Facts { cooling_seconds: 1800, beneficiary_age_seconds: 1799, ..f }, &["beneficiary-cooling"]);
    check("same account", Facts { same_account: true, ..f }, &["same-account"]);
    for level in ["low", "medium"] {
        check(level, Facts { risk_level: Some(level), ..f }, &[]);
    }
    check("high", Facts { risk_level: Some("high"), ..f }, &["risk-acknowledgment-required"]);
    check("high, acknowledged", Facts { risk_level: Some("high"), acknowledged: true, ..f }, &[]);
    for local_hour in [0, 3, 23] {
        check("no rule looks at the hour", Facts { local_hour, ..f }, &[]);
    }
}

#[test]
fn the_gravest_comes_first() {
    let everything = Facts {
        amount: 10_000,
        available: 1,
        day_total: 1,
        per_transfer_limit: Some(1),
        per_day_limit: Some(1),
        cooling_seconds: 1,
        same_account: true,
        risk_level: Some("high"),
        ..fine()
    };
    check(
        "everything",
        everything,
        &[
            "same-account",
            "insufficient-funds",
            "limit-exceeded",
            "limit-exceeded",
            "beneficiary-cooling",
            "risk-acknowledgment-required",
        ],
    );
}

#[test]
fn details_write_money_and_time_for_people() {
    let detail = |facts: Facts<'_>| violations(&facts).remove(0).detail;
    let f = fine();
    assert_eq!(
        detail(Facts { amount: 123_456_789, available: 100_005, ..f }),
        "The transfer of $1,234,567.89 MXN is more than the $1,000.05 MXN available."
    );
    assert_eq!(
        detail(Facts { available: -1_250, ..f }),
        "The transfer of $100.00 MXN is more than the -$12.50 MXN available."
    );
    assert_eq!(
        detail(Facts { per_transfer_limit: Some(9_900), ..f }),
        "The transfer of $100.00 MXN is over the limit of $99.00 MXN for one transfer."
    );
    assert_eq!(
        detail(Facts { day_total: 90_000, per_day_limit: Some(99_999), ..f }),
        "With this transfer, today's total would be $1,000.00 MXN, over the limit of $999.99 MXN for one day."
    );
    for (seconds, wait) in
        [(1, "1 more second"), (59, "59 more seconds"), (60, "1 more minute"), (61, "2 more minutes")]
    {
        assert_eq!(
            detail(Facts { cooling_seconds: seconds, ..f }),
            format!("The beneficiary was saved only recently: wait {wait}.")
        );
    }
    assert!(detail(Facts { amount: i64::MAX, ..f }).contains("$92,233,720,368,547,758.07 MXN"));
    assert!(detail(Facts { available: i64::MIN, ..f }).contains("-$92,233,720,368,547,758.08 MXN"));
}

#[test]
fn only_pending_moves() {
    let statuses = ["pending", "completed", "failed", "", "PENDING"];
    for status in statuses {
        for event in ["settled", "rejected", "returned", ""] {
            let expected = match (status, event) {
                ("pending", "settled") => Some("completed"),
                ("pending", "rejected") => Some("failed"),
                _ => None,
            };
            assert_eq!(transition(status, event), expected, "{status} on {event}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn nothing_beyond_the_funds_is_accepted(amount: i64, available: i64, day_total: i64, limit: Option<i64>) {
        let facts = Facts { amount, available, day_total, per_day_limit: limit, per_transfer_limit: limit, ..fine() };
        let accepted = decide(&facts) == Verdict::Accepted;
        prop_assert!(!accepted || (amount > 0 && amount <= available));
        prop_assert!(!accepted || limit.is_none_or(|limit| i128::from(amount) + i128::from(day_total) <= i128::from(limit)));
    }
}
