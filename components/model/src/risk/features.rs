//! The features of the ordered logit. Serving and training both call [`derive()`]. A model uses those
//! features that its weights file names.
//!
//! Every feature is non-negative and monotone in each fact. With the sign that [`FEATURES`] prescribes
//! for its coefficient, this makes the model monotone by construction: an interaction is a product of
//! such features whose coefficient has the same sign.

use super::{Request, factors};
use crate::curve::each_ln_from_one;

pub const COUNT: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Stable within a model version.
    pub name: &'static str,
    /// Whether its coefficient is never negative; otherwise it is never positive.
    pub raises: bool,
}

/// In the order of the values of [`derive()`] and of the contributions in an assessment.
pub const FEATURES: [Feature; COUNT] = [
    raises("amount_over_average"),
    raises("amount_over_maximum"),
    raises("amount_much_higher_than_average"),
    raises("new_beneficiary"),
    raises("unusual_time"),
    raises("late_or_early"),
    raises("new_device"),
    raises("location_changed"),
    raises("low_history"),
    raises("new_device_and_new_beneficiary"),
    raises("new_device_and_location_changed"),
    raises("new_beneficiary_and_amount_over_average"),
    lowers("transactions_to_beneficiary"),
    lowers("past_transactions"),
    lowers("beneficiary_saved"),
];

/// Hours that are neither late nor early. The specification calls 6 and 22 usual, but to a person 22:59
/// is as late as 23:00, so they count as late or early. So do the unusual hours: an unusual hour never
/// weighs less than 6 or 22.
const MIDDLE_HOURS: core::ops::RangeInclusive<u8> = 7..=21;

/// `e^2.5`. Ratios of amounts are capped here, which also bounds the predictor.
const RATIO_MAX: f64 = 12.182493960703473;

/// A beneficiary saved more recently has no effect, so that saving a mule just before paying it does
/// not help.
const SAVED_MINUTES_FROM: u32 = 30;
/// A day later, the effect has reached half its maximum.
const SAVED_HALF_MINUTES: f64 = 1440.0;

const fn raises(name: &'static str) -> Feature {
    Feature { name, raises: true }
}

const fn lowers(name: &'static str) -> Feature {
    Feature { name, raises: false }
}

/// The values of [`FEATURES`] for a request in range; finite and >= 0.
#[must_use]
pub fn derive(request: &Request) -> [f64; COUNT] {
    let new_beneficiary = flag(request.is_new_beneficiary);
    let new_device = flag(request.is_new_device);
    let location_changed = flag(request.geolocation_changed);
    let [to_average, to_maximum] = amount_ratios(request);
    let [over_average, over_maximum, transactions_to_beneficiary, past_transactions] = each_ln_from_one([
        to_average,
        to_maximum,
        // The tenth transfer matters less than the second.
        1.0 + f64::from(request.num_transactions_to_beneficiary),
        1.0 + f64::from(request.num_past_transactions),
    ]);
    [
        over_average,
        over_maximum,
        flag(factors::is_amount_much_higher(request)),
        new_beneficiary,
        flag(factors::is_unusual_time(request)),
        flag(!MIDDLE_HOURS.contains(&request.hour_of_day)),
        new_device,
        location_changed,
        flag(factors::is_low_history(request)),
        new_device * new_beneficiary,
        new_device * location_changed,
        new_beneficiary * over_average,
        transactions_to_beneficiary,
        past_transactions,
        saved(request.beneficiary_saved_minutes),
    ]
}

fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// The ratios of the amount to the average and to the maximum, at most `e^2.5`; both 1 without an average.
fn amount_ratios(request: &Request) -> [f64; 2] {
    if !factors::has_average(request) {
        return [1.0, 1.0];
    }
    let average = request.avg_transaction_amount;
    // A maximum below the average is impossible; treat it as the average.
    let maximum = if request.max_transaction_amount > average { request.max_transaction_amount } else { average };
    [average, maximum].map(|usual| {
        let ratio = request.amount / usual;
        if ratio < RATIO_MAX { ratio } else { RATIO_MAX }
    })
}

/// 0 if unknown or up to 30 minutes, then rises towards 1.
fn saved(minutes: Option<u32>) -> f64 {
    let earned = minutes.unwrap_or(0).saturating_sub(SAVED_MINUTES_FROM);
    // Not `earned / (earned + half)`: in this form every step preserves order.
    1.0 - SAVED_HALF_MINUTES / (f64::from(earned) + SAVED_HALF_MINUTES)
}
