//! Percentiles, and what a share may be by chance.

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

/// Shares that a bet is spread over.
const ALTERNATIVES: i32 = 5;

/// What a bet against "the share is at least `bound`" has made of 1. Without edge, so at the bound or above it, nobody
/// expects to gain, whenever they stop: it ever exceeds `x` with a probability of at most 1 / `x` (Ville's inequality).
pub(crate) fn evidence_below(hits: f64, of: f64, bound: f64) -> f64 {
    if bound >= 1.0 { f64::INFINITY } else { bet(hits, of, bound, |step| bound * step) }
}

/// The same against "the share is at most `bound`".
pub(crate) fn evidence_above(hits: f64, of: f64, bound: f64) -> f64 {
    // Denser near the bound, and up to 1.
    if bound >= 1.0 { 0.0 } else { bet(hits, of, bound, |step| bound.powf(1.0 - (1.0 - step).powi(2))) }
}

/// The mean of likelihood ratios of other shares, for steps from 0 to below 1, to the bound.
fn bet(hits: f64, of: f64, bound: f64, share: impl Fn(f64) -> f64) -> f64 {
    // No observation, however unlikely, tells nothing.
    let log = |count: f64, ratio: f64| if count > 0.0 { count * ratio.ln() } else { 0.0 };
    let shares = (0..ALTERNATIVES).map(|step| share(f64::from(step) / f64::from(ALTERNATIVES)));
    let ratios = shares.map(|it| (log(hits, it / bound) + log(of - hits, (1.0 - it) / (1.0 - bound))).exp());
    ratios.sum::<f64>() / f64::from(ALTERNATIVES)
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
    fn a_bet_gains_by_what_its_share_makes_likelier() {
        // 4 of 4 at 1, 0.1^0.36, 0.1^0.64, 0.1^0.84 and 0.1^0.96 instead of 0.1.
        let exact =
            [0.0, 0.36, 0.64, 0.84, 0.96].map(|it: f64| 10_f64.powf(4.0 * (1.0 - it))).iter().sum::<f64>() / 5.0;
        assert!((evidence_above(4.0, 4.0, 0.1) / exact - 1.0).abs() < 1e-9);
        // Half as many as at 0.1 are excluded by some hundreds, and a hit weighs more than many misses.
        assert!(evidence_below(20.0, 400.0, 0.1) > 100.0 && evidence_below(15.0, 300.0, 0.1) < 100.0);
        assert!(evidence_below(0.0, 100.0, 0.1) > 1_000.0 && evidence_below(0.0, 0.0, 0.1) == 1.0);
        assert!(evidence_below(30.0, 300.0, 0.1) < 1.0 && evidence_above(30.0, 300.0, 0.1) < 1.0);
        assert_eq!(evidence_above(1e6, 1e6, 0.01), f64::INFINITY);
        assert_eq!((evidence_below(9.0, 9.0, 1.0), evidence_above(9.0, 9.0, 1.0)), (f64::INFINITY, 0.0));
    }
}
