//! Risk requests for property tests, and the shipped models.

use caudal_model::risk::{Request, Weights};
use proptest::prelude::*;

pub(crate) const RISK_1: Weights<'_> = Weights::built_in(include_bytes!("../../../risk/models/risk-1/weights.bin"));
pub(crate) const RISK_2: Weights<'_> = Weights::built_in(include_bytes!("../../../risk/models/risk-2/weights.bin"));

/// Amounts of every magnitude, including zero and the ends of the range.
pub(crate) fn money() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.0..20_000.0_f64,
        2 => prop::num::f64::POSITIVE | prop::num::f64::SUBNORMAL,
        1 => prop::sample::select(vec![0.0, 0.01, f64::MIN_POSITIVE, f64::MAX]),
    ]
    .prop_map(f64::abs)
    .prop_filter("money is finite", |money| money.is_finite())
}

/// Counts: mostly small, sometimes the maximum.
pub(crate) fn count() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0..50_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)]
}

/// Any request whose facts are in range.
pub(crate) fn any_request() -> impl Strategy<Value = Request> {
    (
        (money(), any::<bool>(), 0..24_u8, count()),
        (money(), money(), count()),
        (any::<bool>(), any::<bool>(), prop::option::of(prop_oneof![0..90_u32, count()])),
    )
        .prop_map(|((amount, new, hour, past), (average, maximum, to_beneficiary), (device, location, saved))| {
            Request {
                amount,
                is_new_beneficiary: new,
                hour_of_day: hour,
                num_past_transactions: past,
                avg_transaction_amount: average,
                max_transaction_amount: maximum,
                num_transactions_to_beneficiary: to_beneficiary,
                is_new_device: device,
                geolocation_changed: location,
                beneficiary_saved_minutes: saved,
            }
        })
}
