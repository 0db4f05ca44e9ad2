//! The facts that every transfer rules must decide on.

use crate::domain::money::Money;
use crate::domain::rules::Facts;

/// A transfer of 1.00 out of 100.00 to a long-known payee, which no rule rejects.
pub(crate) fn plain_transfer() -> Facts {
    Facts {
        amount: Money::from_minor(100),
        available: Money::from_minor(10_000),
        day_total: Money::ZERO,
        per_transfer_limit: None,
        per_day_limit: None,
        beneficiary_age_seconds: u64::MAX,
        cooling_seconds: 0,
        same_account: false,
        local_hour: 12,
        risk_level: None,
        acknowledged: false,
    }
}

/// A grid of facts, extremes included.
pub(crate) fn grid() -> Vec<Facts> {
    let money = [1, 100, 1_000_000, i64::MAX].map(Money::from_minor);
    let mut grid = Vec::new();
    for (amount, available) in money.iter().flat_map(|amount| money.map(|available| (*amount, available))) {
        for limit in [None, Some(Money::from_minor(500))] {
            for same_account in [false, true] {
                for (beneficiary_age_seconds, cooling_seconds) in [(0, 0), (59, 60), (u64::MAX, 60)] {
                    grid.push(Facts {
                        amount,
                        available,
                        per_transfer_limit: limit,
                        per_day_limit: limit,
                        beneficiary_age_seconds,
                        cooling_seconds,
                        same_account,
                        ..plain_transfer()
                    });
                }
            }
        }
    }
    grid
}
