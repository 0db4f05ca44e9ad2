//! The report on invented decisions, and on a simulated year whose truth is known.

#![expect(clippy::print_stdout, reason = "figures to read")]

#[path = "../../../../../../tests/random.rs"]
mod random;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use random::Random;

const NOW: OffsetDateTime = time::macros::datetime!(2026-11-21 18:00 UTC);

fn seen(age_days: i64, level: Level) -> Seen {
    Seen {
        version: Digest([7; 32]),
        role: Role::Champion,
        level,
        is_new_payee: false,
        amount: 500.0,
        decided_at: NOW - Duration::days(age_days),
    }
}

fn stated(kind: OutcomeKind, known_at: OffsetDateTime) -> Statement {
    Statement { subject_id: Uuid::nil(), kind, source: "operator".to_owned(), known_at }
}

fn all(tally: &Tally) -> Vec<OutcomeFigures> {
    let report = tally.report(|digest| digest.to_string());
    report.slices.into_iter().find(|it| it.by == "all").map(|it| it.figures).unwrap_or_default()
}

fn statements() -> impl Strategy<Value = Vec<(OutcomeKind, i64)>> {
    proptest::collection::vec((proptest::sample::select(OutcomeKind::ALL), 0..120_i64), 0..5)
}

fn decisions() -> impl Strategy<Value = Vec<(Seen, Vec<Statement>)>> {
    let level = proptest::sample::select(Level::ALL);
    let role = proptest::sample::select(Role::ALL);
    let one = (0..150_i64, level, role, any::<bool>(), 0.0..1e6_f64, 0..3_u8, statements());
    let one = one.prop_map(|(age, level, role, is_new_payee, amount, version, told)| {
        let seen = Seen { role, is_new_payee, amount, version: Digest([version; 32]), ..seen(age, level) };
        let told = told.iter().map(|(kind, days)| stated(*kind, seen.decided_at + Duration::days(*days)));
        let told = told.collect();
        (seen, told)
    });
    proptest::collection::vec(one, 1..60)
}

fn tally(decisions: &[(Seen, Vec<Statement>)]) -> Tally {
    let mut tally = Tally::new(NOW);
    decisions.iter().for_each(|(seen, told)| tally.add(seen, told));
    tally
}

proptest! {
    #[test]
    fn slices_add_up_and_shares_are_within_their_intervals(decisions in decisions()) {
        let report = tally(&decisions).report(|digest| digest.to_string());
        for place in 0..HORIZON_DAYS.len() {
            for by in ["all", "level", "payee", "amount", "role"] {
                let figures = || report.slices.iter().filter(|it| it.by == by).map(|it| &it.figures[place]);
                let total: i64 = figures().map(|it| it.decisions + it.young).sum();
                prop_assert_eq!(usize::try_from(total).unwrap(), decisions.len(), "{}", by);
                for it in figures() {
                    prop_assert!(it.caught <= it.alarms.min(it.frauds) && it.frauds + it.unconfirmed <= it.decisions);
                    for share in [&it.precision, &it.recall, &it.alarm_rate].into_iter().flatten() {
                        prop_assert!(0.0 <= share.low && share.low <= share.rate && share.rate <= share.high);
                        prop_assert!(share.high <= 1.0);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_known_after_a_horizon_changes_nothing_at_it(
        decisions in decisions(), kind in proptest::sample::select(OutcomeKind::ALL), days in 31..60_i64,
    ) {
        let counts = |decisions: &[_]| {
            let figures = all(&tally(decisions));
            figures.into_iter().map(|it| (it.decisions, it.alarms, it.frauds, it.caught)).collect::<Vec<_>>()
        };
        let before = counts(&decisions);
        let mut later = decisions;
        for (seen, told) in &mut later {
            told.push(stated(kind, seen.decided_at + Duration::days(days)));
        }
        prop_assert_eq!(counts(&later)[0], before[0]);
        // Nor does a young decision.
        later.push((seen(29, Level::High), vec![stated(OutcomeKind::ConfirmedFraud, NOW)]));
        later.iter_mut().for_each(|(seen, _)| seen.version = Digest([1; 32]));
        let young = counts(&later);
        later.pop();
        prop_assert_eq!(young, counts(&later));
    }
}

#[test]
fn corrections_count_from_when_they_were_known() {
    use OutcomeKind::{ConfirmedFraud, FalseAlarm, Reported, Withdrawn};
    let decided_at = NOW - Duration::days(100);
    let at = |day| decided_at + Duration::days(day);
    let frauds = |told: &[(OutcomeKind, i64)]| {
        let told: Vec<_> = told.iter().map(|(kind, day)| stated(*kind, at(*day))).collect();
        let figures = all(&tally(&[(seen(100, Level::High), told)]));
        figures.iter().map(|it| (it.frauds, it.unconfirmed)).collect::<Vec<_>>()
    };
    assert_eq!(frauds(&[(Reported, 1), (ConfirmedFraud, 45)]), [(0, 1), (1, 0), (1, 0)]);
    assert_eq!(frauds(&[(ConfirmedFraud, 10), (Withdrawn, 70)]), [(1, 0), (1, 0), (0, 0)]);
    // Recorded late, known early: what was known after it still counts.
    assert_eq!(frauds(&[(FalseAlarm, 40), (ConfirmedFraud, 30)]), [(1, 0), (0, 0), (0, 0)]);
    // At the same moment, what was recorded last.
    assert_eq!(frauds(&[(ConfirmedFraud, 5), (FalseAlarm, 5)]), [(0, 0); 3]);
    assert_eq!(frauds(&[]), [(0, 0); 3]);
}

/// A year of a bank whose truth is known: how many orders are frauds, how often there is an alarm, and how long it takes
/// until a fraud is known, which is longer without an alarm.
mod year {
    pub(super) const DECISIONS: usize = 4_000;
    pub(super) const DAYS: f64 = 365.0;
    pub(super) const FRAUD: f64 = 0.06;
    pub(super) const ALARM: [f64; 2] = [0.05, 0.6];
    /// Genuine orders that are said to be frauds on one day, which is withdrawn on another.
    pub(super) const MISTAKEN: f64 = 0.01;
    pub(super) const MISTAKEN_DAYS: [f64; 2] = [20.0, 50.0];
    /// Medians of the delays in days, which have a long tail: without an alarm, and with one.
    const DELAY: [f64; 2] = [60.0, 25.0];
    const SHAPE: f64 = 1.5;

    /// The chance that a fraud is known after so many days.
    fn known(is_alarm: bool, days: f64) -> f64 {
        1.0 / (1.0 + (days / DELAY[usize::from(is_alarm)]).powf(-SHAPE))
    }

    /// The inverse.
    pub(super) fn delay(is_alarm: bool, chance: f64) -> f64 {
        DELAY[usize::from(is_alarm)] * (1.0 / chance - 1.0).powf(-1.0 / SHAPE)
    }

    /// Precision, recall and alarm rate by what is known in the whole population after so many days.
    pub(super) fn truth(days: f64) -> [f64; 3] {
        let is_mistaken = (MISTAKEN_DAYS[0]..MISTAKEN_DAYS[1]).contains(&days);
        let mistaken = if is_mistaken { (1.0 - FRAUD) * MISTAKEN } else { 0.0 };
        let caught = FRAUD * ALARM[1] * known(true, days) + mistaken * ALARM[0];
        let missed = FRAUD * (1.0 - ALARM[1]) * known(false, days) + mistaken * (1.0 - ALARM[0]);
        let alarms = FRAUD * ALARM[1] + (1.0 - FRAUD) * ALARM[0];
        [caught / alarms, caught / (caught + missed), alarms]
    }
}

/// A simulated year, with reports that are confirmed or cleared, mistakes, and statements that are repeated or late.
fn simulated(seed: u64) -> Tally {
    use OutcomeKind::{AuthorisedScam, ConfirmedFraud, FalseAlarm, Reported, Withdrawn};
    let mut random = Random::new(seed);
    let mut chance = || ((random.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let mut tally = Tally::new(NOW);
    for _ in 0..year::DECISIONS {
        // Twice as many orders at the end of the year as on average.
        let day = year::DAYS * chance().sqrt();
        let is_fraud = chance() < year::FRAUD;
        let is_alarm = chance() < year::ALARM[usize::from(is_fraud)];
        let decided_at = NOW - Duration::seconds_f64((year::DAYS - day) * 86_400.0);
        let at = |days: f64| decided_at + Duration::seconds_f64(days * 86_400.0);
        let mut told = Vec::new();
        if is_fraud {
            let delay = year::delay(is_alarm, chance());
            let kind = if chance() < 0.5 { ConfirmedFraud } else { AuthorisedScam };
            told.extend([stated(kind, at(delay)), stated(kind, at(delay)), stated(Reported, at(delay / 2.0))]);
        } else if chance() < year::MISTAKEN {
            let [wrong, withdrawn] = year::MISTAKEN_DAYS;
            told.extend([stated(Withdrawn, at(withdrawn)), stated(ConfirmedFraud, at(wrong))]);
        } else if chance() < 0.05 {
            told.extend([stated(Reported, at(3.0)), stated(FalseAlarm, at(13.0))]);
        }
        // What the bank does not know yet.
        told.retain(|it| it.known_at <= NOW);
        let level = if is_alarm { Level::High } else { Level::Low };
        tally.add(&Seen { decided_at, ..seen(0, level) }, &told);
    }
    tally
}

#[test]
fn intervals_cover_the_truth_of_a_simulated_year_and_naive_shares_do_not() {
    const RUNS: u64 = 1_000;
    let truths = HORIZON_DAYS.map(|days| year::truth(days as f64));
    let (mut covered, mut covered_naively) = ([[0_u32; 3]; 3], [[0_u32; 3]; 3]);
    let mut naive_errors = [[0.0; 3]; 3];
    for seed in 0..RUNS {
        let tally = simulated(seed);
        let so_far = tally.groups[&([7; 32], ("all", "all"))].so_far.shares();
        for (horizon, figures) in all(&tally).iter().enumerate() {
            let shares = [&figures.precision, &figures.recall, &figures.alarm_rate];
            for (which, share) in shares.into_iter().enumerate() {
                let (share, truth) = (share.as_ref().unwrap(), truths[horizon][which]);
                let (hits, of) = so_far[which];
                let (low, high) = wilson(hits, of, SHOWN);
                covered[horizon][which] += u32::from((share.low..=share.high).contains(&truth));
                covered_naively[horizon][which] += u32::from((low..=high).contains(&truth));
                naive_errors[horizon][which] += (share.naive.unwrap() - truth) / RUNS as f64;
            }
        }
    }
    for horizon in 0..3 {
        println!(
            "{} days: truth {:.3?}, covered {:?}, naively {:?} of {RUNS}, naive error {:+.3?}",
            HORIZON_DAYS[horizon], truths[horizon], covered[horizon], covered_naively[horizon], naive_errors[horizon]
        );
    }
    assert!(covered.as_flattened().iter().all(|it| (930..=970).contains(it)), "{covered:?}");
    // Too high beside the shares after thirty days, too low beside those after ninety.
    assert!(naive_errors[0][0] > 0.05 && naive_errors[2][0] < -0.03, "{naive_errors:?}");
    assert!(covered_naively[0][0] < 500 && covered_naively[2][0] < 800, "{covered_naively:?}");
}
