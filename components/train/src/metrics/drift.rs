//! The population stability index: has what a model sees moved since it was trained?

/// Bins with equally many of the reference's rows in each.
const BINS: usize = 10;
/// Below it nothing has moved that matters.
const MODERATE_FROM: f64 = 0.1;
/// Above it the model should be looked at.
const MAJOR_ABOVE: f64 = 0.25;

/// Added to the share of each bin, so that an empty one counts and does not divide by zero.
const LEAST_SHARE: f64 = 1e-4;

/// The index between two samples of one value; 0 when they lie alike, and without rows.
///
/// Bins lie between the reference's deciles, and each decile's own value has one more: a flag that is
/// rarely on, or rarely off, has the same value for every decile, and must not hide in it.
#[must_use]
pub fn psi(reference: &[f64], observed: &[f64]) -> f64 {
    if reference.is_empty() || observed.is_empty() {
        return 0.0;
    }
    let mut sorted = reference.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut ends: Vec<f64> = (1..BINS).map(|index| sorted[index * sorted.len() / BINS]).collect();
    ends.dedup();
    let bin = |value: &f64| ends.partition_point(|end| end < value) + ends.partition_point(|end| end <= value);
    let bins = 2 * ends.len() + 1;
    let shares = |values: &[f64]| -> Vec<f64> {
        let mut counts = vec![0_usize; bins];
        values.iter().for_each(|value| counts[bin(value)] += 1);
        let share =
            |count: usize| (count as f64 / values.len() as f64 + LEAST_SHARE) / (1.0 + LEAST_SHARE * bins as f64);
        counts.into_iter().map(share).collect()
    };
    let difference = |(was, is): (&f64, &f64)| (is - was) * libm::log(is / was);
    shares(reference).iter().zip(&shares(observed)).map(difference).sum()
}

/// What an index means, in a word.
#[must_use]
pub fn psi_verdict(index: f64) -> &'static str {
    if index < MODERATE_FROM {
        "none"
    } else if index <= MAJOR_ABOVE {
        "moderate"
    } else {
        "major"
    }
}
