//! The facts that every transfer rules must decide on.

use crate::domain::money::Money;
use crate::domain::risk::Level;
use crate::domain::rules::Facts;

/// A transfer of 1.00 out of 100.00 to a long-known payee, which no rule rejects.
pub(crate) fn plain_transfer() -> Facts {
    Facts {
        amount: Money::from_minor(100),
        available: Money::from_minor(10_000),
        beneficiary_age_seconds: u64::MAX,
        local_hour: 12,
        ..Facts::default()
    }
}

/// A grid of facts, extremes included.
pub(crate) fn grid() -> Vec<Facts> {
    let money = [1, 100, 1_000_000, i64::MAX].map(Money::from_minor);
    let mut grid = Vec::new();
    for (amount, available) in money.iter().flat_map(|amount| money.map(|available| (*amount, available))) {
        for limit in [None, Some(Money::from_minor(500))] {
            for same_account in [false, true] {
                for (beneficiary_age_seconds, cooling_seconds, risk_level, acknowledged) in [
                    (0, 0, None, false),
                    (59, 60, Some(Level::High), false),
                    (u64::MAX, 60, Some(Level::High), true),
                    (u64::MAX, 60, Some(Level::High), false),
                    (60, 60, Some(Level::Medium), false),
                ] {
                    grid.push(Facts {
                        amount,
                        available,
                        per_transfer_limit: limit,
                        per_day_limit: limit,
                        beneficiary_age_seconds,
                        cooling_seconds,
                        same_account,
                        risk_level,
                        acknowledged,
                        ..plain_transfer()
                    });
                }
            }
        }
    }
    grid
}
