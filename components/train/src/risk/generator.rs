//! `risk data v1`: transfers with severities from an ordered logit with known parameters.
//!
//! A user has a history (number, average and maximum of past transfers). A transfer happens in a usual or
//! an unusual context, which no model sees. Its severity is determined by a sum of the facts plus logistic
//! noise, relative to two cutpoints. So the probability of each severity has a closed form, and with it
//! the best result that any model can achieve: see [`posterior`].
//!
//! The severities are made-up risk tiers, not fraud labels, and their shares (34, 40 and 26 of 100) are
//! not those of any bank. A change to this file needs a new version of the data.

use caudal_model::accessibility::AgeRange;
use caudal_model::risk::{Level, Request};
use serde::{Deserialize, Serialize};

use crate::age;
use crate::data;
use crate::optimise::sigmoid;
use crate::random::Random;

/// Name of this process in cards.
pub(crate) const VERSION: &str = "risk data v1";

/// The parameters that stress tests vary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    /// Scale of the logistic noise.
    pub(crate) noise: f64,
    /// Share of transfers in an unusual context.
    pub(crate) unusual: f64,
    /// Share of transfers with a hidden cause, which is independent of the facts.
    pub(crate) hidden: f64,
}

impl Process {
    pub(crate) const V1: Self = Self { noise: 0.55, unusual: 0.30, hidden: 0.0 };
}

/// Added to the sum by a hidden cause.
const HIDDEN_ADDS: f64 = 2.5;
/// The 34 % and 74 % quantiles of the sum with noise, estimated from two million rows.
const CUTPOINTS: [f64; 2] = [-0.534, 2.376];

/// Share of users without transfers, in addition to those who have none by chance.
const NO_HISTORY: f64 = 0.03;
/// Size and mean of the negative binomial number of past transfers.
const HISTORY_SIZE: f64 = 0.9;
const HISTORY_MEAN: f64 = 19.0;
/// ln of the median amount, MXN 776: 35.8 % of SPEI transfers were MXN 400 or less in July 2023.
const LN_MEDIAN_AMOUNT: f64 = 6.654;
/// Standard deviation of the logarithm between the usual amounts of users.
const BETWEEN_USERS: f64 = 1.718;
/// The same within the amounts of one user.
const WITHIN_USER: f64 = 0.6;

/// Weights of the hours in usual contexts: daytime, with a peak in the evening.
const USUAL_HOURS: [f64; 24] = [
    1.2, 0.6, 0.3, 0.1, 0.1, 0.3, 1.5, 3.0, 4.5, 5.5, 6.0, 6.0, 6.5, 6.5, 6.0, 5.5, 5.5, 6.0, 7.0, 8.5, 8.0, 5.5, 3.5,
    2.4,
];
/// The same in unusual contexts: flatter, with more at night.
const UNUSUAL_HOURS: [f64; 24] = [
    6.0, 6.0, 5.5, 5.0, 4.0, 3.5, 3.0, 3.0, 3.0, 3.0, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 4.0, 4.5, 5.0, 5.0, 5.5,
    6.0,
];

/// One transfer.
pub type Row = data::Row<Request, Label>;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Label {
    /// For slices only.
    #[serde(default)]
    pub age_range: Option<AgeRange>,
    pub severity: Level,
}

#[must_use]
pub fn generate(rows: usize, random: &mut Random) -> Vec<Row> {
    generate_by(&Process::V1, rows, random)
}

pub(crate) fn generate_by(process: &Process, rows: usize, random: &mut Random) -> Vec<Row> {
    (0..rows).map(|_| row(process, random)).collect()
}

fn row(process: &Process, random: &mut Random) -> Row {
    let age_range = age::draw(random);
    let past = if random.chance(NO_HISTORY) { 0 } else { random.negative_binomial(HISTORY_SIZE, HISTORY_MEAN) };
    let usual_amount = random.lognormal(LN_MEDIAN_AMOUNT, BETWEEN_USERS);
    let (average, maximum) = history(usual_amount, past, random);

    let unusual = random.chance(process.unusual);
    let either = |usual: f64, other: f64| if unusual { other } else { usual };
    let mut amount = usual_amount * random.lognormal(-0.18, WITHIN_USER);
    if unusual {
        amount *= random.lognormal(0.9, 0.7);
    }
    // Users without transfers have only new beneficiaries.
    let new = random.chance(either(0.18, 0.55)) || past == 0;
    let device = random.chance(either(0.06, 0.38));
    let location = random.chance(either(0.09, 0.35));
    let hours = if unusual { &UNUSUAL_HOURS } else { &USUAL_HOURS };
    let hour = random.weighted(hours);
    let sent = if new { 0 } else { (1 + random.geometric(0.2)).min(past) };
    let request = Request {
        amount: centavos(amount).max(0.01),
        is_new_beneficiary: new,
        hour_of_day: u8::try_from(hour).unwrap_or_default(),
        num_past_transactions: past,
        avg_transaction_amount: average,
        max_transaction_amount: maximum,
        num_transactions_to_beneficiary: sent,
        is_new_device: device,
        geolocation_changed: location,
        beneficiary_saved_minutes: None,
    };
    let hidden = if process.hidden > 0.0 && random.chance(process.hidden) { HIDDEN_ADDS } else { 0.0 };
    let latent = predictor(&request) + hidden + random.logistic(process.noise);
    let severity = match CUTPOINTS.map(|cutpoint| latent > cutpoint) {
        [false, _] => Level::Low,
        [true, false] => Level::Medium,
        [true, true] => Level::High,
    };
    Row { facts: request, label: Label { age_range: Some(age_range), severity } }
}

/// Average and maximum of past transfers; both 0 if there are none.
fn history(usual_amount: f64, past: u32, random: &mut Random) -> (f64, f64) {
    if past == 0 {
        return (0.0, 0.0);
    }
    let count = f64::from(past);
    let average = usual_amount * random.lognormal(0.0, 0.35 / libm::sqrt(count));
    let above = random.normal(0.45 * libm::sqrt(libm::log(count)), 0.25);
    let average = centavos(average).max(0.01);
    (average, centavos(average * libm::exp(libm::fabs(above))).max(average))
}

fn centavos(amount: f64) -> f64 {
    libm::round(amount * 100.0) / 100.0
}

/// The sum before noise. Does not use the features of the model: the data must not change when they do.
fn predictor(request: &Request) -> f64 {
    let r = request;
    let above = |usual: f64| if usual > 0.0 { libm::log(r.amount / usual).clamp(0.0, 2.5) } else { 0.0 };
    let (ratio, over_maximum) = (above(r.avg_transaction_amount), above(r.max_transaction_amount));
    let doubled = r.avg_transaction_amount > 0.0 && r.amount > 2.0 * r.avg_transaction_amount;
    let (new, device, location) =
        (f64::from(r.is_new_beneficiary), f64::from(r.is_new_device), f64::from(r.geolocation_changed));
    let night = match r.hour_of_day {
        23 | 0..=5 => 1.0,
        22 | 6 => 0.4,
        _ => 0.0,
    };
    2.6 * ratio
        + 1.9 * over_maximum
        + 0.4 * f64::from(doubled)
        + 1.0 * new
        + 0.8 * night
        + 1.2 * device
        + 1.0 * location
        + 0.4 * f64::from(r.num_past_transactions < 3)
        + 0.9 * device * new
        + 0.7 * device * location
        + 1.0 * new * ratio
        - 0.56 * libm::log1p(f64::from(r.num_transactions_to_beneficiary))
        - 0.24 * libm::log1p(f64::from(r.num_past_transactions))
}

/// The probability of each severity, in closed form. No model can do better than to predict the most
/// probable one.
#[must_use]
pub fn posterior(request: &Request) -> [f64; 3] {
    posterior_by(&Process::V1, request)
}

pub(crate) fn posterior_by(process: &Process, request: &Request) -> [f64; 3] {
    let given = |sum: f64| {
        let [low, medium] = CUTPOINTS.map(|cutpoint| sigmoid((cutpoint - sum) / process.noise));
        [low, medium - low, 1.0 - medium]
    };
    let sum = predictor(request);
    let (shown, hidden) = (given(sum), given(sum + HIDDEN_ADDS));
    core::array::from_fn(|severity| shown[severity] + process.hidden * (hidden[severity] - shown[severity]))
}
