//! `nudge data v1`: visits to a screen, and whether the person was struggling.
//!
//! A person has a pace, which depends on age and chance. A visit goes smoothly or not, which affects
//! errors, time and back navigations. Whether the person was struggling is drawn from a logistic function
//! of errors, back navigations and time **relative to the usual pace of their age**: a person of 70 who
//! takes 1.5 times the median is not struggling for that reason. A model does not see the age, so the best
//! it can do is the mean over ages: see [`posterior`].
//!
//! Paces follow usability studies: the slowest 5 % of people take five times as long as the fastest 5 %,
//! so the logarithm of time has a standard deviation of 0.49, and people over 65 take 1.4 to 1.7 times as
//! long as usual. The rest is made up. A change to this file needs a new version of the data.

use caudal_model::accessibility::AgeRange;
use caudal_model::nudge::{Request, median_seconds};
use serde::{Deserialize, Serialize};

use crate::optimise::sigmoid;
use crate::random::Random;
use crate::{age, data};

/// Name of this process in cards.
pub(crate) const VERSION: &str = "nudge data v1";

/// One screen for each known median, and two without.
const SCREENS: [&str; 6] = ["login", "add_beneficiary", "transfer_amount", "transfer_confirm", "settings", "history"];
/// Time relative to the median, by age range.
const PACE: [f64; 4] = [1.0, 1.06, 1.20, 1.55];
/// Standard deviation of ln time between people of the same age.
const BETWEEN_PEOPLE: f64 = 0.49;
/// Share of visits that do not go smoothly.
const ROUGH: f64 = 0.35;

/// Mean errors in a smooth and in a rough visit.
const ERRORS: [f64; 2] = [0.35, 2.2];
/// Mean back navigations in a smooth and in a rough visit.
const BACKS: [f64; 2] = [0.3, 1.4];
/// Mean and standard deviation of the ln time that a rough visit adds.
const HESITATION: (f64, f64) = (0.55, 0.4);
/// Longest flow.
const STEPS_MAX: u64 = 5;

/// Coefficients of struggling: constant; ln(1 + errors); ln of time over the median at the pace of the
/// person's age, in units of ln 2.24; ln(1 + back navigations), at most ln 6; ln of time beyond 2.24 times
/// the median, multiplied by the fraction of the flow that remains.
const CURVE: [f64; 5] = [-2.05, 1.95, 2.05, 0.75, 0.6];
/// Time above this multiple of the median is excessive.
const EXCESSIVE: f64 = 2.24;
/// Cap on back navigations.
const BACKS_MAX: f64 = 5.0;

/// One visit to a screen.
pub type Row = data::Row<Facts, Label>;

/// The body of `POST /ai/nudge`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub screen: String,
    pub num_validation_errors: u32,
    pub time_on_screen_seconds: u32,
    pub num_back_navigations: u32,
    pub steps_total: u32,
    pub current_step: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Label {
    /// For slices only.
    pub age_range: AgeRange,
    pub struggling: bool,
}

impl Facts {
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        Request {
            screen: &self.screen,
            num_validation_errors: self.num_validation_errors,
            time_on_screen_seconds: self.time_on_screen_seconds,
            num_back_navigations: self.num_back_navigations,
            steps_total: self.steps_total,
            current_step: self.current_step,
        }
    }
}

#[must_use]
pub fn generate(rows: usize, random: &mut Random) -> Vec<Row> {
    (0..rows).map(|_| row(random)).collect()
}

fn row(random: &mut Random) -> Row {
    let screen = random.pick(&SCREENS);
    let age_range = age::draw(random);
    let rough = random.chance(ROUGH);
    let place = usize::from(rough);
    let mut seconds = median_seconds(screen) * PACE[age_range as usize] * random.lognormal(0.0, BETWEEN_PEOPLE);
    if rough {
        seconds *= random.lognormal(HESITATION.0, HESITATION.1);
    }
    let steps_total = 1 + random.below(STEPS_MAX) as u32;
    let facts = Facts {
        screen: screen.to_owned(),
        num_validation_errors: count(ERRORS[place], random),
        // Far below 2^32: the longest visits take hours.
        time_on_screen_seconds: libm::round(seconds) as u32,
        num_back_navigations: count(BACKS[place], random),
        steps_total,
        current_step: 1 + random.below(u64::from(steps_total)) as u32,
    };
    let struggling = random.chance(probability(&facts.request(), age_range));
    Row { facts, label: Label { age_range, struggling } }
}

/// A geometric count.
fn count(mean: f64, random: &mut Random) -> u32 {
    random.geometric(1.0 / (1.0 + mean))
}

/// The probability of struggling at a known age. Does not use the features of the model: the data must not
/// change when they do.
fn probability(request: &Request<'_>, age_range: AgeRange) -> f64 {
    let times = f64::from(request.time_on_screen_seconds) / (median_seconds(request.screen) * PACE[age_range as usize]);
    let slowness = libm::log(times.max(1.0));
    let left = 1.0 - f64::from(request.current_step) / f64::from(request.steps_total);
    let [nothing, errors, time, backs, stall] = CURVE;
    sigmoid(
        nothing
            + errors * libm::log1p(f64::from(request.num_validation_errors))
            + time * slowness / libm::log(EXCESSIVE)
            + backs * libm::log1p(f64::from(request.num_back_navigations).min(BACKS_MAX))
            + stall * (slowness - libm::log(EXCESSIVE)).max(0.0) * left.max(0.0),
    )
}

/// The probability of struggling at an unknown age, which is the best that a model can predict: the mean
/// over ages, weighted by their posterior probabilities.
#[must_use]
pub fn posterior(request: &Request<'_>) -> f64 {
    let ln_times = libm::log((f64::from(request.time_on_screen_seconds)).max(0.5) / median_seconds(request.screen));
    let geometric = |count: u32, mean: f64| libm::pow(mean / (1.0 + mean), f64::from(count.min(1000))) / (1.0 + mean);
    let normal = |x: f64, mean: f64, deviation: f64| {
        let z = (x - mean) / deviation;
        libm::exp(-0.5 * z * z) / deviation
    };
    let (extra, extra_spread) = HESITATION;
    let rough_spread = libm::sqrt(BETWEEN_PEOPLE * BETWEEN_PEOPLE + extra_spread * extra_spread);
    let kind = [(1.0 - ROUGH, 0.0, BETWEEN_PEOPLE), (ROUGH, extra, rough_spread)];
    let seen = |place: usize| {
        geometric(request.num_validation_errors, ERRORS[place]) * geometric(request.num_back_navigations, BACKS[place])
    };
    let (mut total, mut struggling) = (0.0, 0.0);
    for age_range in age::ALL {
        let ln_pace = libm::log(PACE[age_range as usize]);
        let times = |place: usize| normal(ln_times, ln_pace + kind[place].1, kind[place].2);
        let likely: f64 = (0..2).map(|place| kind[place].0 * times(place) * seen(place)).sum();
        let weight = age::SHARES[age_range as usize] * likely;
        total += weight;
        struggling += weight * probability(request, age_range);
    }
    if total > 0.0 { struggling / total } else { probability(request, AgeRange::From31To50) }
}
