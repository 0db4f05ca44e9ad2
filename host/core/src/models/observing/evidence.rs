//! Judges a step of a canary's rollout by what all hosts compared.
//!
//! A bound is violated if a canary that keeps it would hardly ever look like this, and kept if even the unfavourable
//! end of the interval does not exceed it. In between there is too little evidence, and the rollout waits.

use std::fmt::Write as _;

use crate::db::counts::Count;
use crate::domain::model::Digest;
use crate::domain::rollout::Bounds;
use crate::models::observing::interval::{SHOWN, excess, percentile_interval, wilson};
use crate::models::observing::measure::{Measure, classes_of_flip, time_of_bucket};

/// Chance of a share above which its bound does not count as violated: e^-12, one in 160,000. The evidence is looked at
/// every second, so a false alarm must be rare.
const VIOLATED_LN: f64 = 12.0;

/// The same for percentiles, in standard deviations.
const VIOLATED: f64 = 4.0;

/// The percentile of the times that is bounded.
const PERCENTILE: f64 = 0.95;

/// A canary below this is fast enough, in microseconds: ratios of such times are those of chance.
const FAST_MICROS: f64 = 1_000.0;

/// What all hosts saw of a canary in one deployment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Requests that canary and champion answered.
    pub compared: i64,
    pub flipped: i64,
    /// Requests on which the canary failed.
    pub failed: i64,
    /// In microseconds with their counts, ascending.
    champion: Vec<(f64, i64)>,
    canary: Vec<(f64, i64)>,
}

/// What follows for the rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgment {
    Ready,
    /// What is missing.
    Waits(String),
    /// Which bound, and by what.
    Violated(String),
}

impl Evidence {
    pub fn of(counts: &[Count<i64>], canary: Digest) -> Self {
        let mut evidence = Self::default();
        for it in counts.iter().filter(|it| it.digest == canary) {
            let is = |measure: Measure| it.measure == measure.to_string();
            let time = || (time_of_bucket(it.bucket), it.count);
            if is(Measure::Flip) {
                let (was, is) = classes_of_flip(it.bucket);
                evidence.compared += it.count;
                evidence.flipped += if was == is { 0 } else { it.count };
            } else if is(Measure::Failed) {
                evidence.failed += it.count;
            } else if is(Measure::ChampionTime) {
                evidence.champion.push(time());
            } else if is(Measure::ChallengerTime) {
                evidence.canary.push(time());
            }
        }
        for times in [&mut evidence.champion, &mut evidence.canary] {
            times.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        }
        evidence
    }

    /// Requests that the canary answered or failed on.
    pub fn decisions(&self) -> i64 {
        self.compared + self.failed
    }

    /// After this many seconds at the step.
    pub fn judge(&self, bounds: &Bounds, seconds: i64) -> Judgment {
        let failures = (self.failed, self.decisions(), bounds.max_failure_percent, "decisions failed");
        let flips = (self.flipped, self.compared, bounds.max_flip_percent, "compared answers are in another class");
        let mut waits = String::new();
        for (hits, of, percent, what) in [failures, flips] {
            let limit = f64::from(percent) / 100.0;
            if excess(hits, of, limit) > VIOLATED_LN {
                return Judgment::Violated(format!("{hits} of {of} {what}: {}, more than {percent}%", share(hits, of)));
            }
            if wilson(hits, of, SHOWN).1 > limit {
                waits =
                    format!("too few decisions to tell whether more than {percent}% of {what}: {}", share(hits, of));
            }
        }
        match self.slowness(bounds) {
            Some(Judgment::Waits(why)) => waits = why,
            Some(judgment) => return judgment,
            None => {}
        }
        if self.decisions() < i64::from(bounds.decisions) {
            return Judgment::Waits(format!("{} of {} decisions", self.decisions(), bounds.decisions));
        }
        if seconds < i64::from(bounds.seconds) {
            return Judgment::Waits(format!("{} of {} s", seconds.max(0), bounds.seconds));
        }
        if waits.is_empty() { Judgment::Ready } else { Judgment::Waits(waits) }
    }

    /// `None` if it is fast enough.
    fn slowness(&self, bounds: &Bounds) -> Option<Judgment> {
        let ratio = f64::from(bounds.max_latency_percent) / 100.0;
        let interval = |times: &[(f64, i64)], deviations| percentile_interval(times, PERCENTILE, deviations);
        let within = |champion: f64| (champion * ratio).max(FAST_MICROS);
        if let (Some((_, was)), Some((is, _))) = (interval(&self.champion, VIOLATED), interval(&self.canary, VIOLATED))
            && is > within(was)
        {
            let percent = bounds.max_latency_percent;
            let why =
                format!("95% of its answers take up to {is:.0} µs, more than {percent}% of the champion's {was:.0}");
            return Some(Judgment::Violated(why));
        }
        match (interval(&self.champion, SHOWN), interval(&self.canary, SHOWN)) {
            (Some((was, _)), Some((_, is))) if is <= within(was) => None,
            _ => Some(Judgment::Waits("too few decisions to tell whether it is fast enough".to_owned())),
        }
    }

    /// In a sentence, for the history.
    pub fn summary(&self) -> String {
        let mut text = format!("{} decisions", self.decisions());
        let (failed, flipped) = (share(self.failed, self.decisions()), share(self.flipped, self.compared));
        // Writing to a string cannot fail.
        let _ = write!(text, ", failed {failed}, another class {flipped}");
        text
    }
}

/// A share with its interval: `1.2% (0.6–2.4%)`.
fn share(hits: i64, of: i64) -> String {
    let (low, high) = wilson(hits, of, SHOWN);
    let share = if of > 0 { hits as f64 / of as f64 } else { 0.0 };
    format!("{:.1}% ({:.1}–{:.1}%)", share * 100.0, low * 100.0, high * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds =
        Bounds { decisions: 500, seconds: 60, max_failure_percent: 1, max_flip_percent: 10, max_latency_percent: 200 };

    fn seen(compared: i64, flipped: i64, failed: i64) -> Evidence {
        let times = vec![(20.0, compared)];
        Evidence { compared, flipped, failed, champion: times.clone(), canary: times }
    }

    #[track_caller]
    fn waits(evidence: &Evidence, seconds: i64, why: &str) {
        match evidence.judge(&BOUNDS, seconds) {
            Judgment::Waits(reason) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn violates(evidence: &Evidence, why: &str) {
        // However little time has passed.
        match evidence.judge(&BOUNDS, 0) {
            Judgment::Violated(reason) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_waits_until_there_is_enough_of_everything() {
        assert_eq!(seen(500, 10, 0).judge(&BOUNDS, 60), Judgment::Ready);
        waits(&seen(499, 10, 0), 60, "499 of 500 decisions");
        waits(&seen(500, 10, 0), 59, "59 of 60 s");
        waits(&seen(500, 10, 0), -5, "0 of 60 s");
        // Two failures in 500 may well be more than one percent, 45 flips more than ten.
        waits(&seen(500, 10, 2), 60, "1% of decisions failed: 0.4% (0.1–1.4%)");
        waits(&seen(500, 45, 0), 60, "10% of compared answers");
        assert_eq!(seen(5_000, 450, 20).judge(&BOUNDS, 60), Judgment::Ready);
        waits(&Evidence::default(), 1_000, "0 of 500 decisions");
        waits(&Evidence { compared: 20_000, ..Evidence::default() }, 60, "fast enough");
    }

    #[test]
    fn it_stops_when_a_bound_is_certainly_violated() {
        violates(
            &seen(100, 40, 0),
            "40 of 100 compared answers are in another class: 40.0% (30.9–49.8%), more than 10%",
        );
        violates(&seen(2_000, 300, 0), "more than 10%");
        violates(&seen(100, 0, 10), "10 of 110");
        // By chance.
        waits(&seen(100, 14, 0), 60, "100 of 500");
        waits(&seen(100, 0, 1), 60, "101 of 500");
    }

    #[test]
    fn it_is_as_fast_as_the_champion_allows() {
        let with = |champion, canary| Evidence { champion, canary, ..seen(600, 0, 0) };
        violates(
            &with(vec![(2_000.0, 600)], vec![(5_000.0, 600)]),
            "up to 5000 µs, more than 200% of the champion's 2000",
        );
        assert_eq!(with(vec![(2_000.0, 600)], vec![(4_000.0, 600)]).judge(&BOUNDS, 60), Judgment::Ready);
        // A hundred times slower, and still nobody notices.
        assert_eq!(with(vec![(9.0, 600)], vec![(900.0, 600)]).judge(&BOUNDS, 60), Judgment::Ready);
        // About one in twenty is slow.
        waits(&with(vec![(2_000.0, 600)], vec![(2_000.0, 568), (9_000.0, 32)]), 60, "fast enough");
        assert_eq!(with(vec![(2_000.0, 600)], vec![(2_000.0, 590), (9_000.0, 10)]).judge(&BOUNDS, 60), Judgment::Ready);
    }

    #[test]
    fn counts_of_the_canary_become_evidence() {
        use crate::domain::model::ModelKind;
        let count = |digest, measure: Measure, bucket, count| Count {
            kind: ModelKind::Risk,
            at: 1,
            digest: Digest([digest; 32]),
            measure: measure.to_string(),
            bucket,
            count,
        };
        let counts = [
            count(1, Measure::Flip, 0, 90),
            count(1, Measure::Flip, 2, 10),
            count(1, Measure::Failed, 0, 3),
            count(1, Measure::Failed, 1, 1),
            count(2, Measure::Flip, 2, 50),
            count(1, Measure::ChallengerTime, 20, 1),
            count(1, Measure::ChallengerTime, 4, 99),
        ];
        let evidence = Evidence::of(&counts, Digest([1; 32]));
        assert_eq!((evidence.compared, evidence.flipped, evidence.failed, evidence.decisions()), (100, 10, 4, 104));
        assert!(evidence.canary.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!(evidence.summary(), "104 decisions, failed 3.8% (1.5–9.5%), another class 10.0% (5.5–17.4%)");
    }
}
