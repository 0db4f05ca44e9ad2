//! Facts to features: what the ordered logit sees. Serving and training both call [`derive()`].
//! This is the catalogue; a model's weights name the features that it uses.
//!
//! Every feature is zero or more, and moves in one direction only when one fact moves. Together
//! with the sign that [`FEATURES`] fixes for its coefficient this makes the model monotone by
//! construction: interactions are products of such features with a coefficient of the same sign.
//! Not for weights (see [`super::Weights`]) nor for the codes shown to people.

use super::{Request, factors};
use crate::curve::ln_from_one;

/// How many features there are.
pub const COUNT: usize = 15;

/// One feature of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Stable within a model version.
    pub name: &'static str,
    /// True: its coefficient is never negative. False: never positive.
    pub raises: bool,
}

/// The features, in the order of [`derive()`]'s values and of an assessment's contributions.
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

/// Neither late nor early. The hours 6 and 22 are usual by the specification, but 22:59 is as late as
/// 23:00 to a person, so they count among the late and early ones, as the unusual hours do: an
/// unusual hour then never weighs less than one of these.
const MIDDLE_HOURS: core::ops::RangeInclusive<u8> = 7..=21;

/// `e^2.5`: an amount further above the usual one says no more. It also bounds the predictor.
const RATIO_MAX: f64 = 12.182493960703473;

/// Saving a beneficiary earns nothing before this, so adding a mule just before sending does not.
const SAVED_MINUTES_FROM: u32 = 30;
/// After this much longer (a day) saving has earned half of all it ever does.
const SAVED_HALF_MINUTES: f64 = 1440.0;

const fn raises(name: &'static str) -> Feature {
    Feature { name, raises: true }
}

const fn lowers(name: &'static str) -> Feature {
    Feature { name, raises: false }
}

/// The values of [`FEATURES`] for a request whose facts are in range; each is finite and >= 0.
#[must_use]
pub fn derive(request: &Request) -> [f64; COUNT] {
    let new_beneficiary = flag(request.is_new_beneficiary);
    let new_device = flag(request.is_new_device);
    let location_changed = flag(request.geolocation_changed);
    let (over_average, over_maximum) = amount_ratios(request);
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
        ln_count(request.num_transactions_to_beneficiary),
        ln_count(request.num_past_transactions),
        saved(request.beneficiary_saved_minutes),
    ]
}

fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// `ln(1 + count)`: the tenth transfer says less than the second.
fn ln_count(count: u32) -> f64 {
    ln_from_one(1.0 + f64::from(count))
}

/// How far the amount lies above the average and above the maximum, as logarithms; 0 at or below
/// them, and both 0 without an average.
fn amount_ratios(request: &Request) -> (f64, f64) {
    if !factors::has_average(request) {
        return (0.0, 0.0);
    }
    let average = request.avg_transaction_amount;
    // A maximum below the average cannot be: clients that send one mean the average at least.
    let maximum = if request.max_transaction_amount > average { request.max_transaction_amount } else { average };
    (ln_ratio(request.amount, average), ln_ratio(request.amount, maximum))
}

/// `ln(amount / usual)` between 0 and 2.5; `usual` is above zero.
fn ln_ratio(amount: f64, usual: f64) -> f64 {
    let ratio = amount / usual;
    ln_from_one(if ratio < RATIO_MAX { ratio } else { RATIO_MAX })
}

/// 0 up to 30 minutes and when unknown, then rising towards 1 and never reaching it.
fn saved(minutes: Option<u32>) -> f64 {
    let earned = minutes.unwrap_or(0).saturating_sub(SAVED_MINUTES_FROM);
    // Not `earned / (earned + half)`: here every step keeps order.
    1.0 - SAVED_HALF_MINUTES / (f64::from(earned) + SAVED_HALF_MINUTES)
}
