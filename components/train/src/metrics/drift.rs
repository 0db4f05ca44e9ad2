//! The population stability index: has the distribution of a value shifted since training?

/// Quantiles of the reference that delimit bins.
const BINS: usize = 10;
/// Smaller shifts do not matter.
const MODERATE_FROM: f64 = 0.1;
/// Larger shifts warrant a review of the model.
const MAJOR_ABOVE: f64 = 0.25;

/// Added to the share of each bin, so that empty bins count but do not divide by zero.
const LEAST_SHARE: f64 = 1e-4;

/// The distribution of a fact: a bin between every two deciles and one for each decile's own value, so
/// that a flag that is rarely set, or rarely unset, has a bin of its own.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Reference {
    pub fact: &'static str,
    ends: Vec<f64>,
    shares: Vec<f64>,
}

impl Reference {
    /// From a sample, which must not be empty.
    #[must_use]
    pub fn new(fact: &'static str, values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut ends: Vec<f64> = (1..BINS).map(|index| sorted[index * sorted.len() / BINS]).collect();
        ends.dedup();
        let shares = shares(&ends, values);
        Self { fact, ends, shares }
    }
}

fn shares(ends: &[f64], values: &[f64]) -> Vec<f64> {
    let bin = |value: &f64| ends.partition_point(|end| end < value) + ends.partition_point(|end| end <= value);
    let mut counts = vec![0_usize; 2 * ends.len() + 1];
    values.iter().for_each(|value| counts[bin(value)] += 1);
    counts.into_iter().map(|count| count as f64 / values.len() as f64).collect()
}

/// The index between two samples; 0 for equal distributions or an empty sample.
#[must_use]
pub fn psi(reference: &[f64], observed: &[f64]) -> f64 {
    if reference.is_empty() || observed.is_empty() {
        return 0.0;
    }
    let reference = Reference::new("", reference);
    let bins = reference.shares.len() as f64;
    let least = |share: &f64| (share + LEAST_SHARE) / (1.0 + LEAST_SHARE * bins);
    let difference = |(was, is): (f64, f64)| (is - was) * libm::log(is / was);
    let observed = shares(&reference.ends, observed);
    reference.shares.iter().map(least).zip(observed.iter().map(least)).map(difference).sum()
}

/// The size of a shift in one word.
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
