//! Does what is said with 70 % happen 70 times of 100?

use serde::Serialize;

use super::{Interval, wilson};

/// Bins with equally many rows in each.
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
}

/// The curve of probabilities of something that happened or not.
#[must_use]
pub fn reliability(name: &str, said: &[f64], happened: &[bool]) -> Reliability {
    let mut order: Vec<_> = (0..said.len()).collect();
    // Equal probabilities keep the order of the rows.
    order.sort_by(|&a, &b| said[a].total_cmp(&said[b]));
    let mut bins = Vec::with_capacity(BINS);
    for index in 0..BINS {
        let rows = &order[index * order.len() / BINS..(index + 1) * order.len() / BINS];
        if rows.is_empty() {
            continue;
        }
        let hits = rows.iter().filter(|&&row| happened[row]).count();
        let mean = rows.iter().map(|&row| said[row]).sum::<f64>() / rows.len() as f64;
        bins.push(Bin { said: mean, happened: wilson(hits, rows.len()), rows: rows.len() });
    }
    let error = |bin: &Bin| bin.rows as f64 * (bin.said - bin.happened.value).abs();
    let ece = bins.iter().map(error).sum::<f64>() / said.len().max(1) as f64;
    Reliability { name: name.to_owned(), bins, ece }
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
