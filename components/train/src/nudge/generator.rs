//! `nudge data v1`: sessions on one screen, and whether the person was struggling.
//!
//! A person has a pace, by age and by chance; a visit to a screen goes smoothly or not, which shows
//! in errors, in time and in going back. Whether the person was struggling is drawn from a logistic
//! curve of errors, of going back, and of time **against the usual pace of their age**: somebody of 70
//! who takes 1.5 times the median is not struggling for that. A model does not see the age, so the
//! best it can do is the mean over ages, which [`posterior`] gives.
//!
//! Paces follow usability studies: the slowest 5 % of people take five times as long as the fastest,
//! so that the logarithm of time spreads by 0.49, and people over 65 take 1.4 to 1.7 times the usual.
//! The rest is made up. Another version of this file is another version of the data.

use anyhow::{Result, ensure};
use caudal_model::nudge::{Request, median_seconds};
use serde::{Deserialize, Serialize};

use crate::age::AgeRange;
use crate::metrics::Reference;
use crate::optimise::sigmoid;
use crate::random::Random;

/// Names this process in cards and data files.
pub const VERSION: &str = "nudge data v1";

/// Screens, one of each that has a median of its own and two that have none.
const SCREENS: [&str; 6] = ["login", "add_beneficiary", "transfer_amount", "transfer_confirm", "settings", "history"];
/// Times the median of a person of each age range takes.
const PACE: [f64; 4] = [1.0, 1.06, 1.20, 1.55];
/// Spread of ln time between people of one age.
const BETWEEN_PEOPLE: f64 = 0.49;
/// Visits that do not go smoothly.
const ROUGH: f64 = 0.35;

/// Mean errors of a smooth and of a rough visit.
const ERRORS: [f64; 2] = [0.35, 2.2];
/// Mean times of going back.
const BACKS: [f64; 2] = [0.3, 1.4];
/// Mean and spread of ln time that a rough visit adds.
const HESITATION: (f64, f64) = (0.55, 0.4);
/// Longest flow.
const STEPS_MAX: u64 = 5;

/// The curve of struggling: nothing seen; for ln(1 + errors); for each ln 2.24 of time over the median
/// at the pace of the person's age; for ln(1 + times gone back), up to ln 6; for time beyond 2.24 times, as a
/// logarithm, by the part of the flow that is left.
const CURVE: [f64; 5] = [-2.05, 1.95, 2.05, 0.75, 0.6];
/// Time above this many times the median is excessive.
const EXCESSIVE: f64 = 2.24;
/// Going back more often than five times says no more.
const BACKS_SATURATE: f64 = 5.0;

/// One visit to a screen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the first fields are those of the HTTP API")]
pub struct Row {
    pub screen: String,
    pub num_validation_errors: u32,
    pub time_on_screen_seconds: u32,
    pub num_back_navigations: u32,
    pub steps_total: u32,
    pub current_step: u32,
    /// For slices only: no model sees it.
    pub age_range: AgeRange,
    /// Whether the person was struggling.
    pub struggling: bool,
}

impl Row {
    /// What a model sees.
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

    /// A row as it was read, if a model could have been asked.
    ///
    /// # Errors
    /// When steps are below 1.
    pub fn checked(self) -> Result<Self> {
        ensure!(self.steps_total >= 1 && self.current_step >= 1, "steps are counted from 1");
        Ok(self)
    }
}

/// One visit after another.
#[must_use]
pub fn generate(rows: usize, random: &mut Random) -> Vec<Row> {
    (0..rows).map(|_| row(random)).collect()
}

fn row(random: &mut Random) -> Row {
    let screen = random.pick(&SCREENS);
    let age_range = AgeRange::drawn(random);
    let rough = random.chance(ROUGH);
    let place = usize::from(rough);
    let mut seconds = median_seconds(screen) * PACE[age_range as usize] * random.lognormal(0.0, BETWEEN_PEOPLE);
    if rough {
        seconds *= random.lognormal(HESITATION.0, HESITATION.1);
    }
    let steps_total = 1 + random.below(STEPS_MAX) as u32;
    let mut row = Row {
        screen: screen.to_owned(),
        num_validation_errors: counted(ERRORS[place], random),
        // Below 2^32 by far: the tails end at hours.
        time_on_screen_seconds: libm::round(seconds) as u32,
        num_back_navigations: counted(BACKS[place], random),
        steps_total,
        current_step: 1 + random.below(u64::from(steps_total)) as u32,
        age_range,
        struggling: false,
    };
    row.struggling = random.chance(struggling_at(&row.request(), age_range));
    row
}

/// A geometric count with this mean.
fn counted(mean: f64, random: &mut Random) -> u32 {
    random.geometric(1.0 / (1.0 + mean))
}

/// The probability of struggling of somebody whose age is known. Written out here, and not from the
/// model's features: the data must not change when those do.
fn struggling_at(request: &Request<'_>, age_range: AgeRange) -> f64 {
    let times = f64::from(request.time_on_screen_seconds) / (median_seconds(request.screen) * PACE[age_range as usize]);
    let slowness = libm::log(times.max(1.0));
    let left = 1.0 - f64::from(request.current_step) / f64::from(request.steps_total);
    let [nothing, errors, time, backs, stall] = CURVE;
    sigmoid(
        nothing
            + errors * libm::log1p(f64::from(request.num_validation_errors))
            + time * slowness / libm::log(EXCESSIVE)
            + backs * libm::log1p(f64::from(request.num_back_navigations).min(BACKS_SATURATE))
            + stall * (slowness - libm::log(EXCESSIVE)).max(0.0) * left.max(0.0),
    )
}

/// The probability of struggling of somebody whose age is not known: the mean over ages, each as
/// probable as what was seen makes it. The best that a model can say.
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
    for age_range in AgeRange::ALL {
        let ln_pace = libm::log(PACE[age_range as usize]);
        let times = |place: usize| normal(ln_times, ln_pace + kind[place].1, kind[place].2);
        let likely: f64 = (0..2).map(|place| kind[place].0 * times(place) * seen(place)).sum();
        let weight = AgeRange::SHARES[age_range as usize] * likely;
        total += weight;
        struggling += weight * struggling_at(request, age_range);
    }
    if total > 0.0 { struggling / total } else { struggling_at(request, AgeRange::From31To50) }
}

/// How the facts lie in rows.
#[must_use]
pub fn reference(rows: &[Row]) -> Vec<Reference> {
    let fact = |name, of: &dyn Fn(&Row) -> u32| {
        Reference::new(name, &rows.iter().map(|row| f64::from(of(row))).collect::<Vec<_>>())
    };
    vec![
        fact("num_validation_errors", &|row| row.num_validation_errors),
        fact("time_on_screen_seconds", &|row| row.time_on_screen_seconds),
        fact("num_back_navigations", &|row| row.num_back_navigations),
        fact("steps_total", &|row| row.steps_total),
        fact("current_step", &|row| row.current_step),
    ]
}
