//! Calibration: do events predicted at 70 % happen 70 times in 100?

use serde::Serialize;

use super::{Interval, wilson};
use crate::random::Random;

/// Resamples for the interval of an error.
const RESAMPLES: usize = 200;

/// Bins of equal size, except that rows with the same probability share a bin.
const BINS: usize = 15;

/// Rows with similar probabilities.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bin {
    /// Mean predicted probability.
    #[serde(rename = "said")]
    pub predicted: f64,
    /// Share of rows with a positive outcome.
    #[serde(rename = "happened")]
    pub observed: Interval,
    pub rows: usize,
}

/// A reliability curve.
#[derive(Clone, Debug, Serialize)]
pub struct Reliability {
    /// The event.
    pub name: String,
    /// By ascending probability.
    pub bins: Vec<Bin>,
    /// Expected calibration error: the mean distance between predicted and observed, weighted by rows.
    pub ece: f64,
    /// Its interval, from resampling the shares of the bins. No sample is calibrated perfectly, so it
    /// does not include zero even for the true probabilities.
    pub ece_interval: Interval,
}

/// The curve of predicted probabilities of an event.
#[must_use]
pub fn reliability(name: &str, predicted: &[f64], observed: &[bool]) -> Reliability {
    let mut order: Vec<_> = (0..predicted.len()).collect();
    // A stable sort, so that the result does not depend on the library.
    order.sort_by(|&a, &b| predicted[a].total_cmp(&predicted[b]));
    let mut bins = Vec::with_capacity(BINS);
    let mut start = 0;
    for index in 1..=BINS {
        let mut end = index * order.len() / BINS;
        if end <= start {
            continue;
        }
        end += order[end..].iter().take_while(|&&row| predicted[row] == predicted[order[end - 1]]).count();
        let rows = &order[start..end];
        start = end;
        let hits = rows.iter().filter(|&&row| observed[row]).count();
        let mean = rows.iter().map(|&row| predicted[row]).sum::<f64>() / rows.len() as f64;
        bins.push(Bin { predicted: mean, observed: wilson(hits, rows.len()), rows: rows.len() });
    }
    let total = predicted.len().max(1) as f64;
    let distance = |bin: &Bin, share: f64| bin.rows as f64 * (bin.predicted - share).abs() / total;
    let ece = bins.iter().map(|bin| distance(bin, bin.observed.value)).sum();
    let mut random = Random::new(RESAMPLES as u64, bins.len() as u64);
    let mut resample = || {
        let drawn = bins.iter().map(|bin| {
            let spread = bin.observed.value * (1.0 - bin.observed.value) / bin.rows as f64;
            distance(bin, random.normal(bin.observed.value, libm::sqrt(spread)))
        });
        drawn.sum::<f64>()
    };
    let mut errors: Vec<f64> = (0..RESAMPLES).map(|_| resample()).collect();
    errors.sort_by(f64::total_cmp);
    let tail = RESAMPLES / 40;
    let ece_interval = Interval { value: ece, low: errors[tail].min(ece), high: errors[RESAMPLES - 1 - tail].max(ece) };
    Reliability { name: name.to_owned(), bins, ece, ece_interval }
}

/// Brier score: the mean squared distance between probability and outcome.
#[must_use]
pub fn brier(predicted: &[f64], observed: &[bool]) -> f64 {
    let square = |(predicted, &observed): (&f64, &bool)| {
        let distance = predicted - f64::from(observed);
        distance * distance
    };
    predicted.iter().zip(observed).map(square).sum::<f64>() / predicted.len().max(1) as f64
}
