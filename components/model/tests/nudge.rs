//! Nudges: examples of each band, exact thresholds, and monotonicity.

use caudal_model::nudge::{Assessment, Nudge, Request, Weights, band};
use caudal_model::{Invalid, nudge};
use proptest::prelude::*;

const WEIGHTS: Weights<'_> = Weights::built_in(include_bytes!("../../nudge/models/nudge-1/weights.bin"));

fn assess(request: &Request<'_>) -> Result<Assessment, Invalid> {
    nudge::assess(&WEIGHTS, request)
}

/// A single-screen flow on a screen whose median is 45 seconds.
fn seen(errors: u32, seconds: u32, backs: u32) -> Request<'static> {
    Request {
        screen: "settings",
        num_validation_errors: errors,
        time_on_screen_seconds: seconds,
        num_back_navigations: backs,
        steps_total: 1,
        current_step: 1,
    }
}

fn score(request: Request<'_>) -> f64 {
    assess(&request).expect("the steps are in range").score
}

#[test]
fn bands_have_strict_edges_and_one_reason_each() {
    for (score, nudge, reason, needs_help) in [
        (0.0, Nudge::Warning, "low_difficulty", false),
        (0.40, Nudge::Warning, "low_difficulty", false),
        (0.400_000_1, Nudge::Info, "moderate_difficulty", true),
        (0.75, Nudge::Info, "moderate_difficulty", true),
        (0.750_000_1, Nudge::Assist, "high_error_rate_or_time", true),
        (1.0, Nudge::Assist, "high_error_rate_or_time", true),
    ] {
        let band = band(score);
        assert_eq!((band.nudge, band.reason, band.needs_help), (nudge, reason, needs_help), "{score}");
    }
}

#[test]
fn the_required_scores_hold() {
    assert!(score(seen(0, 0, 0)) < 0.15);
    assert!(score(seen(0, 45, 0)) < 0.15, "the median is normal");
    assert!(score(seen(1, 45, 0)) < 0.40, "one error is normal");
    assert!(score(seen(2, 45, 0)) > 0.40);
    assert!(score(seen(3, 0, 0)) > 0.40, "three errors need help");
    assert!(score(seen(3, 45, 0)) <= 0.75);
    assert!(score(seen(0, 101, 0)) > 0.40, "excessive time needs help");
    assert!(score(seen(5, 0, 0)) > 0.75, "five errors need much help");
    assert!(score(seen(3, 101, 0)) > 0.75, "three errors and excessive time too");
    assert!(score(seen(0, 76, 0)) <= 0.40, "1.7 times slower is not in need of help");
}

#[test]
fn excessive_time_starts_just_above_2_24_times_the_median() {
    let at = |screen, seconds| score(Request { screen, ..seen(0, seconds, 0) });
    for (screen, usual, excessive) in [
        ("login", 67, 68),
        ("beneficiary", 134, 135),
        ("amount", 67, 68),
        // 56 seconds are 2.24 times 25 exactly, and exactly is not above.
        ("confirm", 56, 57),
        ("anything else", 100, 101),
        ("", 100, 101),
    ] {
        assert!(at(screen, usual) <= 0.40, "{screen}: {}", at(screen, usual));
        assert!(at(screen, excessive) > 0.40, "{screen}: {}", at(screen, excessive));
        let unfinished = Request { screen, steps_total: 9, ..seen(0, usual, 0) };
        assert!(score(unfinished) <= 0.40, "{screen}: the flow's start does not move the edge");
    }
}

#[test]
fn screens_are_known_by_part_of_their_name_in_any_case() {
    let at = |screen| score(Request { screen, ..seen(0, 57, 0) }).to_bits();
    assert_eq!(at("TransferConfirmScreen"), at("confirm"));
    assert_eq!(at("LOGIN"), at("login"));
    assert_eq!(at("add-beneficiary"), at("beneficiary"));
    assert_eq!(at("amount_confirm"), at("confirm"), "a confirmation, whatever it confirms");
    assert_eq!(at("logi"), at("settings"));
    assert_eq!(at("confirmación"), at("confirm"));
    assert_eq!(at("ñandú"), at("settings"));
}

#[test]
fn going_back_alone_is_never_much_help() {
    for backs in [0, 1, 2, 3, 7, 8, 100, u32::MAX] {
        assert!(score(seen(0, 45, backs)) <= 0.75, "{backs}");
    }
    assert!(score(seen(0, 45, 100)) > score(seen(0, 45, 1)));
}

#[test]
fn steps_start_at_one_and_the_last_is_the_most() {
    let steps = |steps_total, current_step| Request { steps_total, current_step, ..seen(0, 300, 0) };
    assert_eq!(assess(&steps(0, 1)).expect_err("no steps").field, "steps_total");
    assert_eq!(assess(&steps(1, 0)).expect_err("no step").field, "current_step");
    assert_eq!(score(steps(4, 9)).to_bits(), score(steps(4, 4)).to_bits());
    assert!(score(steps(4, 1)) > score(steps(4, 4)), "stuck at the start is worse");
}

fn any_seen() -> impl Strategy<Value = Request<'static>> {
    let count = || prop_oneof![4 => 0..20_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    let screen = prop::sample::select(vec!["login", "beneficiary", "amount", "confirm", "other", ""]);
    let time = prop_oneof![4 => 0..400_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    (screen, count(), time, count(), 1..12_u32, 1..15_u32).prop_map(
        |(screen, num_validation_errors, time_on_screen_seconds, num_back_navigations, steps_total, current_step)| {
            Request {
                screen,
                num_validation_errors,
                time_on_screen_seconds,
                num_back_navigations,
                steps_total,
                current_step,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn scores_are_in_range_and_agree_with_their_band(request in any_seen()) {
        let verdict = assess(&request).expect("the steps are in range");
        prop_assert!((0.0..=1.0).contains(&verdict.score));
        prop_assert_eq!(verdict.band, band(verdict.score));
    }

    #[test]
    fn more_difficulty_never_lowers(r in any_seen(), more in prop_oneof![1..5_u32, any::<u32>()]) {
        let low = score(r);
        for harder in [
            Request { num_validation_errors: r.num_validation_errors.saturating_add(more), ..r },
            Request { time_on_screen_seconds: r.time_on_screen_seconds.saturating_add(more), ..r },
            Request { num_back_navigations: r.num_back_navigations.saturating_add(more), ..r },
        ] {
            prop_assert!(low <= score(harder), "{:?}\n{:?}", r, harder);
        }
    }

    #[test]
    fn going_back_alone_stays_below_much_help(backs in any::<u32>(), steps in 1..9_u32) {
        let alone = Request { steps_total: steps, ..seen(0, 45, backs) };
        prop_assert!(score(alone) <= 0.75);
    }
}
