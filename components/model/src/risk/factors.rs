//! The risk factors of the specification, shown to people as reasons.
//!
//! The conditions are the specification's own. How much each one weighs is up to [`super::Weights`].

use alloc::vec::Vec;

use super::Request;

/// "More than 2 times": exactly twice the average does not count.
const MUCH_HIGHER_TIMES: f64 = 2.0;
/// 22:59 is still hour 22, so 22 is normal.
const NORMAL_HOURS: core::ops::RangeInclusive<u8> = 6..=22;
/// "Fewer than 3 prior transactions".
const HISTORY_MIN: u32 = 3;

/// Without a history of amounts, "twice the average" means nothing.
pub(super) fn has_average(request: &Request) -> bool {
    request.avg_transaction_amount > 0.0
}

pub(super) fn is_amount_much_higher(request: &Request) -> bool {
    has_average(request) && request.amount > MUCH_HIGHER_TIMES * request.avg_transaction_amount
}

pub(super) fn is_unusual_time(request: &Request) -> bool {
    !NORMAL_HOURS.contains(&request.hour_of_day)
}

pub(super) fn is_low_history(request: &Request) -> bool {
    request.num_past_transactions < HISTORY_MIN
}

/// Codes of the factors that apply, in the order of the specification.
pub(super) fn fired(request: &Request) -> Vec<&'static str> {
    [
        (is_amount_much_higher(request), "AMOUNT_MUCH_HIGHER_THAN_AVERAGE"),
        (request.is_new_beneficiary, "NEW_BENEFICIARY"),
        (is_unusual_time(request), "UNUSUAL_TIME"),
        (request.is_new_device, "NEW_DEVICE"),
        (request.geolocation_changed, "LOCATION_CHANGED"),
        (is_low_history(request), "LOW_HISTORY"),
    ]
    .into_iter()
    .filter_map(|(holds, code)| holds.then_some(code))
    .collect()
}
