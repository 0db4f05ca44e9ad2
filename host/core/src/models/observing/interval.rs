//! Percentiles, and how far they and shares may be off by chance.

/// Standard deviations of an interval that is shown to people: 95 % of such intervals cover the truth.
pub(crate) const SHOWN: f64 = 1.959_964;

/// The interval of a share by Wilson's score method, which keeps within 0 and 1 and holds for few and rare hits. All of
/// it without any observation.
pub(crate) fn wilson(hits: i64, of: i64, deviations: f64) -> (f64, f64) {
    if of <= 0 {
        return (0.0, 1.0);
    }
    let (n, z2) = (of as f64, deviations * deviations);
    let share = hits as f64 / n;
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = deviations / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // What rounding leaves of 0 and 1.
    let low = if hits <= 0 { 0.0 } else { middle - half };
    let high = if hits >= of { 1.0 } else { middle + half };
    (low.max(0.0), high.min(1.0))
}

/// How unlikely at least so many hits are if their share is at most `limit`, as the negative logarithm of Chernoff's
/// bound, which holds for however few observations. 0 while the share keeps within the limit.
pub(crate) fn excess(hits: i64, of: i64, limit: f64) -> f64 {
    let (n, k) = (of as f64, hits as f64);
    if of <= 0 || k / n <= limit {
        return 0.0;
    }
    let rest = if hits < of { (n - k) * ((n - k) / n / (1.0 - limit)).ln() } else { 0.0 };
    k * (k / n / limit).ln() + rest
}

/// The smallest value with at least this share of the counts at or below it; 0 without any.
pub fn percentile(values: &[(f64, i64)], share: f64) -> f64 {
    let all: i64 = values.iter().map(|(_, count)| count).sum();
    let mut below = 0;
    for (value, count) in values {
        below += count;
        if below as f64 >= share * all as f64 {
            return *value;
        }
    }
    0.0
}

/// To a tenth of a microsecond.
pub fn rounded(micros: f64) -> f64 {
    (micros * 10.0).round() / 10.0
}

/// The interval of a percentile by its order statistics, whatever the distribution. Takes values with their counts in
/// ascending order. `None` if there are too few to know an upper end.
pub(crate) fn percentile_interval(values: &[(f64, i64)], share: f64, deviations: f64) -> Option<(f64, f64)> {
    let n = values.iter().map(|(_, count)| *count).sum::<i64>() as f64;
    let half = deviations * (n * share * (1.0 - share)).sqrt();
    let (low, high) = ((n * share - half).floor().max(1.0), (n * share + half).ceil());
    (n > 0.0 && high <= n).then(|| (at_rank(values, low), at_rank(values, high)))
}

fn at_rank(values: &[(f64, i64)], rank: f64) -> f64 {
    let mut below = 0;
    for (value, count) in values {
        below += count;
        if below as f64 >= rank {
            return *value;
        }
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close((low, high): (f64, f64), (want_low, want_high): (f64, f64)) {
        assert!((low - want_low).abs() < 5e-4 && (high - want_high).abs() < 5e-4, "{low} {high}");
    }

    #[test]
    fn a_share_has_the_interval_of_the_literature() {
        // Newcombe (1998), table I, method 3.
        assert_close(wilson(81, 263, SHOWN), (0.2553, 0.3662));
        assert_close(wilson(15, 148, SHOWN), (0.0624, 0.1605));
        assert_close(wilson(0, 20, SHOWN), (0.0, 0.1611));
        assert_close(wilson(1, 29, SHOWN), (0.0061, 0.1718));
        assert_close(wilson(29, 29, SHOWN), (0.8830, 1.0));
        assert_eq!(wilson(0, 0, SHOWN), (0.0, 1.0));
        assert_eq!(wilson(0, 5, SHOWN).0, 0.0);
        assert_eq!(wilson(5, 5, SHOWN).1, 1.0);
    }

    #[test]
    fn an_excess_bounds_the_chance_of_it() {
        // Exact: 0.01² and 0.1⁵.
        assert!((excess(2, 2, 0.01) - 9.21).abs() < 0.01);
        assert!((excess(5, 5, 0.1) - 11.51).abs() < 0.01);
        // The exact chance of 15 or more of 100 at a tenth is 0.073, of 25 or more 1.2e-5.
        for (hits, chance) in [(15, 0.073_f64), (25, 1.2e-5)] {
            let bound = (-excess(hits, 100, 0.1)).exp();
            assert!(bound >= chance && bound < 10.0 * chance + 0.2, "{bound}");
        }
        assert_eq!([excess(0, 0, 0.1), excess(1, 10, 0.1), excess(0, 10, 0.1)], [0.0; 3]);
        assert_eq!(excess(10, 10, 1.0), 0.0);
    }

    #[test]
    fn a_percentile_has_an_interval_once_there_are_enough_values() {
        let values: Vec<_> = (1..=1000).map(|it| (f64::from(it), 1)).collect();
        // 950 ± 1.96 √(1000 · 0.95 · 0.05).
        assert_eq!(percentile_interval(&values, 0.95, SHOWN), Some((936.0, 964.0)));
        assert_eq!(percentile_interval(&values[..20], 0.95, SHOWN), None);
        assert_eq!(percentile_interval(&[(3.0, 1000)], 0.95, SHOWN), Some((3.0, 3.0)));
        assert_eq!(percentile_interval(&[], 0.95, SHOWN), None);
    }
}
