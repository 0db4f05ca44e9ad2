//! The distributions that a card keeps: a host compares what it sees with them.

/// Quantiles of the reference that delimit bins.
const BINS: usize = 10;
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
        let bin = |value: &f64| ends.partition_point(|end| end < value) + ends.partition_point(|end| end <= value);
        let mut counts = vec![0_usize; 2 * ends.len() + 1];
        values.iter().for_each(|value| counts[bin(value)] += 1);
        let shares = counts.into_iter().map(|count| count as f64 / values.len() as f64).collect();
        Self { fact, ends, shares }
    }
}
