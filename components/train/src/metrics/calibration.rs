//! Does what is said with 70 % happen 70 times of 100?

use serde::Serialize;

use super::{Interval, wilson};
use crate::random::Random;

/// Resamples behind the interval of an error.
const RESAMPLES: usize = 200;

/// Bins with equally many rows in each, as far as rows of one probability stay together.
const BINS: usize = 15;

/// Rows whose probabilities lie close together.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bin {
    /// Mean probability said.
    pub said: f64,
    /// Share of rows where it happened, with its interval.
    pub happened: Interval,
    /// Rows.
    pub rows: usize,
}

/// A reliability curve.
#[derive(Clone, Debug, Serialize)]
pub struct Reliability {
    /// What the probability is of.
    pub name: String,
    /// In rising order of what was said.
    pub bins: Vec<Bin>,
    /// Expected calibration error: the mean distance of the two, each row counting once.
    pub ece: f64,
    /// Its interval, from redrawing the shares of the bins. A sample is never calibrated perfectly, so this
    /// does not reach zero for the true probabilities either.
    pub ece_interval: Interval,
}

/// The curve of probabilities of something that happened or not.
#[must_use]
pub fn reliability(name: &str, said: &[f64], happened: &[bool]) -> Reliability {
    let mut order: Vec<_> = (0..said.len()).collect();
    // Equal probabilities keep the order of the rows.
    order.sort_by(|&a, &b| said[a].total_cmp(&said[b]));
    let mut bins = Vec::with_capacity(BINS);
    let mut start = 0;
    for index in 1..=BINS {
        let mut end = index * order.len() / BINS;
        if end <= start {
            continue;
        }
        end += order[end..].iter().take_while(|&&row| said[row] == said[order[end - 1]]).count();
        let rows = &order[start..end];
        start = end;
        let hits = rows.iter().filter(|&&row| happened[row]).count();
        let mean = rows.iter().map(|&row| said[row]).sum::<f64>() / rows.len() as f64;
        bins.push(Bin { said: mean, happened: wilson(hits, rows.len()), rows: rows.len() });
    }
    let total = said.len().max(1) as f64;
    let distance = |bin: &Bin, share: f64| bin.rows as f64 * (bin.said - share).abs() / total;
    let ece = bins.iter().map(|bin| distance(bin, bin.happened.value)).sum();
    let mut random = Random::new(RESAMPLES as u64, bins.len() as u64);
    let mut again = || {
        let drawn = bins.iter().map(|bin| {
            let spread = bin.happened.value * (1.0 - bin.happened.value) / bin.rows as f64;
            distance(bin, random.normal(bin.happened.value, libm::sqrt(spread)))
        });
        drawn.sum::<f64>()
    };
    let mut errors: Vec<f64> = (0..RESAMPLES).map(|_| again()).collect();
    errors.sort_by(f64::total_cmp);
    let tail = RESAMPLES / 40;
    let ece_interval = Interval { value: ece, low: errors[tail].min(ece), high: errors[RESAMPLES - 1 - tail].max(ece) };
    Reliability { name: name.to_owned(), bins, ece, ece_interval }
}

/// Mean squared distance of probabilities from what happened.
#[must_use]
pub fn brier(said: &[f64], happened: &[bool]) -> f64 {
    let square = |(said, &happened): (&f64, &bool)| {
        let distance = said - f64::from(u8::from(happened));
        distance * distance
    };
    said.iter().zip(happened).map(square).sum::<f64>() / said.len().max(1) as f64
}
