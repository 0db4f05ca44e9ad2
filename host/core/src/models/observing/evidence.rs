//! Judges a step of a canary by what all hosts compared: the only judge, of rollouts and of canaries whose share an
//! operator sets.
//!
//! The unit is a user, whose first decision counts, and the judgment is valid however often it is made: see
//! [`evidence_below`]. Two hosts may have seen the same users. Each has a bet of its own, and the mean of them is judged,
//! which has no edge either, whatever they share. One that starts during a step weakens that a little: with six, the error
//! is below `(1 + 1/2 + ... + 1/6) / KEPT`.

use std::fmt::Write as _;

use crate::db::counts::Count;
use crate::domain::model::{Digest, ModelKind};
use crate::domain::risk::Level;
use crate::domain::rollout::{Bounds, HIGH_TO_LOW_SHARE, LOWERED_SHARE};
use crate::models::observing::interval::{SHOWN, evidence_above, evidence_below, wilson};
use crate::models::observing::measure::{Measure, classes_of_flip};

/// A canary at a bound or above it passes one step in so many at most, over however long it takes.
const KEPT: f64 = 100.0;

/// A canary that keeps a bound violates it in one step in so many at most.
const VIOLATED: f64 = 1_000.0;

/// The share of the comparisons that may be missing: requests are dropped when there are many, and what is left speaks
/// for the quiet hours only.
const DROPPED_SHARE_MAX: f64 = 0.05;

/// What one host saw of a canary in one deployment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Seen {
    /// Users on whose first request canary and champion answered.
    compared: i64,
    flipped: i64,
    /// Into a lower class, if classes have an order.
    lowered: i64,
    high_to_low: i64,
    /// Users on whose first request the canary failed.
    failed: i64,
    /// All requests that could be compared, and those that were not.
    observed: i64,
    dropped: i64,
}

/// What all hosts saw of a canary in one deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    kind: ModelKind,
    hosts: Vec<Seen>,
}

/// What follows for the canary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgment {
    Ready,
    /// What is missing.
    Waits(String),
    /// Which bound, and by what.
    Violated(String),
}

/// A share that is bounded: its name, the bound as a percentage, and the share on one host.
type Bounded = (&'static str, f64, fn(&Seen) -> (i64, i64));

impl Evidence {
    /// From the counts of each host.
    pub fn of(kind: ModelKind, hosts: &[Vec<Count<i64>>], canary: Digest) -> Self {
        let hosts = hosts.iter().map(|counts| Seen::of(kind, counts, canary)).collect();
        Self { kind, hosts }
    }

    fn total(&self, share: fn(&Seen) -> (i64, i64)) -> (i64, i64) {
        self.hosts.iter().map(share).fold((0, 0), |(hits, of), host| (hits + host.0, of + host.1))
    }

    /// Users on whose first request the canary answered or failed, on each host.
    pub fn decisions(&self) -> i64 {
        self.failures().1
    }

    /// Of the decisions.
    pub fn failures(&self) -> (i64, i64) {
        self.total(|it| (it.failed, it.compared + it.failed))
    }

    /// Of the compared answers; likewise below.
    pub fn flips(&self) -> (i64, i64) {
        self.total(|it| (it.flipped, it.compared))
    }

    pub fn lowered(&self) -> (i64, i64) {
        self.total(|it| (it.lowered, it.compared))
    }

    pub fn high_to_low(&self) -> (i64, i64) {
        self.total(|it| (it.high_to_low, it.compared))
    }

    fn bounded(&self, bounds: &Bounds) -> Vec<Bounded> {
        let flips = f64::from(bounds.max_flip_percent);
        let mut bounded: Vec<Bounded> = vec![
            ("decisions failed", bounds.max_failure_percent.into(), |it| (it.failed, it.compared + it.failed)),
            ("compared answers are in another class", flips, |it| (it.flipped, it.compared)),
        ];
        if self.kind == ModelKind::Risk {
            bounded
                .push(("compared answers are in a lower class", flips * LOWERED_SHARE, |it| (it.lowered, it.compared)));
            let high_to_low = flips * HIGH_TO_LOW_SHARE;
            bounded.push(("compared answers went from high to low", high_to_low, |it| (it.high_to_low, it.compared)));
        }
        bounded
    }

    /// The mean of what bets on each host have made of 1.
    fn of_hosts(&self, share: fn(&Seen) -> (i64, i64), bet: impl Fn(f64, f64) -> f64) -> f64 {
        let bets = self.hosts.iter().map(share).map(|(hits, of)| bet(hits as f64, of as f64));
        bets.sum::<f64>() / self.hosts.len().max(1) as f64
    }

    /// After this many seconds at the step.
    pub fn judge(&self, bounds: &Bounds, seconds: i64) -> Judgment {
        let mut waits = None;
        for (what, percent, share) in self.bounded(bounds) {
            let bound = percent / 100.0;
            let (hits, of) = self.total(share);
            if self.of_hosts(share, |hits, of| evidence_above(hits, of, bound)) > VIOLATED {
                let share = share_of((hits, of));
                return Judgment::Violated(format!("{hits} of {of} {what}: {share}, more than {percent}%"));
            }
            if self.of_hosts(share, |hits, of| evidence_below(hits, of, bound)) <= KEPT {
                waits.get_or_insert((what, percent, (hits, of)));
            }
        }
        if self.decisions() < i64::from(bounds.decisions) {
            return Judgment::Waits(format!("{} of {} decisions", self.decisions(), bounds.decisions));
        }
        if seconds < i64::from(bounds.seconds) {
            return Judgment::Waits(format!("{} of {} s", seconds.max(0), bounds.seconds));
        }
        let (dropped, all) = self.total(|it| (it.dropped, it.observed + it.dropped));
        if dropped as f64 > all as f64 * DROPPED_SHARE_MAX {
            return Judgment::Waits(format!("{dropped} of {all} comparisons were dropped, more than 5%"));
        }
        let Some((what, percent, share)) = waits else { return Judgment::Ready };
        let share = share_of(share);
        Judgment::Waits(format!("too few decisions to tell whether more than {percent}% of {what}: {share}"))
    }

    /// In a sentence, for the history.
    pub fn summary(&self) -> String {
        let mut text = format!("{} decisions", self.decisions());
        let (failed, flipped) = (share_of(self.failures()), share_of(self.flips()));
        // Writing to a string cannot fail.
        let _ = write!(text, ", failed {failed}, another class {flipped}");
        text
    }
}

impl Seen {
    fn of(kind: ModelKind, counts: &[Count<i64>], canary: Digest) -> Self {
        let mut seen = Self::default();
        for Count { measure, bucket, count, .. } in counts.iter().filter(|it| it.digest == canary) {
            let is = |it: Measure| *measure == it.to_string();
            if is(Measure::Flip) {
                let (was, is) = classes_of_flip(*bucket);
                let of = |condition: bool| if condition { *count } else { 0 };
                let is_ordered = kind == ModelKind::Risk;
                seen.compared += count;
                seen.flipped += of(was != is);
                seen.lowered += of(is_ordered && is < was);
                seen.high_to_low += of(is_ordered && (was, is) == (Level::High as usize, Level::Low as usize));
            } else if is(Measure::Failed) {
                seen.failed += count;
            } else if is(Measure::Observed) {
                seen.observed += count;
            } else if is(Measure::Dropped) {
                seen.dropped += count;
            }
        }
        seen
    }
}

/// A share with its interval: `1.2% (0.6–2.4%)`.
fn share_of((hits, of): (i64, i64)) -> String {
    let (low, high) = wilson(hits, of, SHOWN);
    let share = if of > 0 { hits as f64 / of as f64 } else { 0.0 };
    format!("{:.1}% ({:.1}–{:.1}%)", share * 100.0, low * 100.0, high * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { decisions: 500, seconds: 60, max_failure_percent: 1, max_flip_percent: 10 };

    fn seen(compared: i64, flipped: i64, failed: i64) -> Seen {
        Seen { compared, flipped, failed, observed: compared + failed, ..Seen::default() }
    }

    fn alone(host: Seen) -> Evidence {
        Evidence { kind: ModelKind::Risk, hosts: vec![host] }
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
        let enough = seen(700, 10, 0);
        assert_eq!(alone(enough).judge(&BOUNDS, 60), Judgment::Ready);
        waits(&alone(seen(499, 10, 0)), 60, "499 of 500 decisions");
        waits(&alone(enough), 59, "59 of 60 s");
        waits(&alone(enough), -5, "0 of 60 s");
        // They may well be more.
        waits(&alone(seen(700, 10, 3)), 60, "1% of decisions failed: 0.4% (0.1–1.2%)");
        waits(&alone(seen(700, 60, 0)), 60, "10% of compared answers are in another class");
        waits(&Evidence { kind: ModelKind::Risk, hosts: Vec::new() }, 1_000, "0 of 500 decisions");
    }

    #[test]
    fn the_worst_direction_has_the_strictest_bound() {
        let lowered = |lowered, high_to_low| alone(Seen { lowered, high_to_low, ..seen(2_000, 110, 0) });
        assert_eq!(lowered(0, 0).judge(&BOUNDS, 60), Judgment::Ready);
        waits(&lowered(90, 0), 60, "5% of compared answers are in a lower class");
        waits(&lowered(45, 45), 60, "2.5% of compared answers went from high to low");
        violates(&alone(Seen { lowered: 180, ..seen(2_000, 180, 0) }), "in a lower class: 9.0%");
        violates(&alone(Seen { lowered: 100, high_to_low: 100, ..seen(2_000, 180, 0) }), "high to low: 5.0%");
        // Other classes have no order.
        let nudge = Evidence { kind: ModelKind::Nudge, ..lowered(90, 90) };
        assert_eq!(nudge.judge(&BOUNDS, 60), Judgment::Ready);
    }

    #[test]
    fn it_stops_when_a_bound_is_certainly_violated() {
        violates(
            &alone(seen(100, 40, 0)),
            "40 of 100 compared answers are in another class: 40.0% (30.9–49.8%), more than 10%",
        );
        violates(&alone(seen(2_000, 300, 0)), "more than 10%");
        violates(&alone(seen(100, 0, 10)), "10 of 110");
        // By chance.
        waits(&alone(seen(100, 14, 0)), 60, "100 of 500");
        waits(&alone(seen(100, 0, 1)), 60, "101 of 500");
    }

    #[test]
    fn what_hosts_saw_of_the_same_users_does_not_add_up() {
        let hosts = |count| Evidence { kind: ModelKind::Nudge, hosts: vec![seen(300, 20, 0); count] };
        let bounds = Bounds { max_failure_percent: 100, ..BOUNDS };
        assert_eq!(hosts(2).decisions(), 600);
        assert!(matches!(hosts(2).judge(&bounds, 60), Judgment::Waits(_)));
        assert!(matches!(hosts(20).judge(&bounds, 60), Judgment::Waits(_)));
        let two = vec![seen(700, 20, 0), Seen::default()];
        assert_eq!(Evidence { kind: ModelKind::Nudge, hosts: two }.judge(&bounds, 60), Judgment::Ready);
    }

    #[test]
    fn it_does_not_advance_on_what_was_left() {
        let with = |dropped| alone(Seen { observed: 1_900, dropped, ..seen(700, 10, 0) });
        assert_eq!(with(100).judge(&BOUNDS, 60), Judgment::Ready);
        waits(&with(101), 60, "101 of 2001 comparisons were dropped, more than 5%");
    }

    #[test]
    fn counts_of_the_canary_become_evidence() {
        let count = |digest, measure: Measure, bucket, count| Count {
            kind: ModelKind::Risk,
            at: 1,
            digest: Digest([digest; 32]),
            measure: measure.to_string(),
            bucket,
            count,
        };
        let counts = vec![
            count(1, Measure::Flip, 0, 90),
            count(1, Measure::Flip, 2, 10),
            count(1, Measure::Flip, 32, 5),
            count(1, Measure::Flip, 16, 2),
            count(1, Measure::Failed, 0, 3),
            count(1, Measure::Failed, 1, 1),
            count(1, Measure::Dropped, 0, 7),
            count(2, Measure::Flip, 2, 50),
        ];
        let evidence = Evidence::of(ModelKind::Risk, &[counts], Digest([1; 32]));
        assert_eq!((evidence.flips(), evidence.failures()), ((17, 107), (4, 111)));
        assert_eq!((evidence.lowered(), evidence.high_to_low()), ((7, 107), (5, 107)));
        assert_eq!(evidence.hosts[0].dropped, 7);
        assert_eq!(evidence.summary(), "111 decisions, failed 3.6% (1.4–8.9%), another class 15.9% (10.2–24.0%)");
    }
}
