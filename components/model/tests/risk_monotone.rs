//! Risk scores are monotone in each fact, to the last bit.
//!
//! Half of the pairs differ by a neighbouring value or by a threshold, where a violation is most likely.

use caudal_model::risk::{Request, assess};
use proptest::prelude::*;

mod facts;
use facts::{RISK_1, RISK_2, any_request, count, money};

/// Asserts that `safer` scores no higher than `riskier`, by both models.
fn ordered(safer: Request, riskier: Request) -> Result<(), TestCaseError> {
    for weights in [RISK_1, RISK_2] {
        let score = |request| assess(&weights, &request).expect("the facts are in range").score;
        let (low, high) = (score(safer), score(riskier));
        prop_assert!(low <= high, "{}: {low} for {safer:?}\n{high} for {riskier:?}", weights.version);
    }
    Ok(())
}

fn sorted(a: f64, b: f64) -> (f64, f64) {
    if a <= b { (a, b) } else { (b, a) }
}

/// The next larger amount, or the largest.
fn next(money: f64) -> f64 {
    if money < f64::MAX { f64::from_bits(money.to_bits() + 1) } else { money }
}

/// Thresholds for the amount, given the history of `r`.
fn edges(r: &Request) -> [f64; 5] {
    let average = r.avg_transaction_amount;
    [
        average,
        2.0 * average,
        average * 2.5_f64.exp(),
        r.max_transaction_amount,
        r.max_transaction_amount * 2.5_f64.exp(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_larger_amount_never_lowers(r in any_request(), other in money()) {
        let (low, high) = sorted(r.amount, other);
        ordered(Request { amount: low, ..r }, Request { amount: high, ..r })?;
        ordered(Request { amount: low, ..r }, Request { amount: next(low), ..r })?;
        for edge in edges(&r).into_iter().filter(|edge| edge.is_finite()) {
            ordered(Request { amount: edge, ..r }, Request { amount: next(edge), ..r })?;
            let (low, high) = sorted(edge, other);
            ordered(Request { amount: low, ..r }, Request { amount: high, ..r })?;
        }
    }

    #[test]
    fn a_larger_average_never_raises(r in any_request(), other in money()) {
        let edges = [other, r.amount, r.amount / 2.0, r.max_transaction_amount, next(r.avg_transaction_amount)];
        for edge in edges {
            let (low, high) = sorted(r.avg_transaction_amount, edge);
            if low > 0.0 {
                ordered(
                    Request { avg_transaction_amount: high, ..r },
                    Request { avg_transaction_amount: low, ..r },
                )?;
            }
        }
    }

    #[test]
    fn a_larger_maximum_never_raises(r in any_request(), other in money()) {
        for edge in [other, r.amount, r.avg_transaction_amount, next(r.max_transaction_amount)] {
            let (low, high) = sorted(r.max_transaction_amount, edge);
            ordered(
                Request { max_transaction_amount: high, ..r },
                Request { max_transaction_amount: low, ..r },
            )?;
        }
    }

    #[test]
    fn more_transfers_never_raise(r in any_request(), other in count()) {
        let past = |num_past_transactions| Request { num_past_transactions, ..r };
        let sent = |num_transactions_to_beneficiary| Request { num_transactions_to_beneficiary, ..r };
        for count in [other, 0, 2, 3] {
            ordered(past(count.saturating_add(1)), past(count))?;
            ordered(past(count.max(other)), past(count.min(other)))?;
            ordered(sent(count.saturating_add(1)), sent(count))?;
            ordered(sent(count.max(other)), sent(count.min(other)))?;
        }
    }

    #[test]
    fn each_new_circumstance_never_lowers(r in any_request()) {
        let beneficiary = |is_new_beneficiary| Request { is_new_beneficiary, ..r };
        let device = |is_new_device| Request { is_new_device, ..r };
        let location = |geolocation_changed| Request { geolocation_changed, ..r };
        ordered(beneficiary(false), beneficiary(true))?;
        ordered(device(false), device(true))?;
        ordered(location(false), location(true))?;
    }

    #[test]
    fn an_unusual_hour_is_never_below_a_usual_one(r in any_request(), usual in 6..=22_u8, after in 0..7_u8) {
        let unusual = (23 + after) % 24;
        ordered(Request { hour_of_day: usual, ..r }, Request { hour_of_day: unusual, ..r })?;
    }

    #[test]
    fn a_longer_saved_beneficiary_never_raises(r in any_request(), a in 0..10_000_u32, b in count()) {
        let saved = |minutes| Request { beneficiary_saved_minutes: minutes, ..r };
        ordered(saved(Some(a)), saved(None))?;
        ordered(saved(Some(a + 1)), saved(Some(a)))?;
        ordered(saved(Some(a.max(b))), saved(Some(a.min(b))))?;
    }
}
