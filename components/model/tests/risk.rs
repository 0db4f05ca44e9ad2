//! Risk: examples of the specification's factors, and properties of every verdict.

use caudal_model::risk::features::{COUNT, FEATURES};
use caudal_model::risk::{Assessment, HIGH_FROM, Level, MEDIUM_FROM, Request, Weights, assess};
use proptest::prelude::*;

mod facts;
use facts::{RISK_1, RISK_2, any_request};

const AMOUNT: &str = "AMOUNT_MUCH_HIGHER_THAN_AVERAGE";
const BENEFICIARY: &str = "NEW_BENEFICIARY";
const TIME: &str = "UNUSUAL_TIME";
const DEVICE: &str = "NEW_DEVICE";
const LOCATION: &str = "LOCATION_CHANGED";
const HISTORY: &str = "LOW_HISTORY";

/// An unremarkable transfer.
fn familiar() -> Request {
    Request {
        amount: 500.0,
        is_new_beneficiary: false,
        hour_of_day: 12,
        num_past_transactions: 20,
        avg_transaction_amount: 500.0,
        max_transaction_amount: 1500.0,
        num_transactions_to_beneficiary: 4,
        is_new_device: false,
        geolocation_changed: false,
        beneficiary_saved_minutes: None,
    }
}

fn assessed(request: &Request) -> Assessment {
    assess(&RISK_2, request).expect("the facts are in range")
}

fn check(name: &str, request: Request, level: Level, factors: &[&str]) {
    let verdict = assessed(&request);
    assert_eq!(verdict.factors, factors, "{name}");
    assert_eq!(verdict.level, level, "{name}: score {}", verdict.score);
}

#[test]
fn factors_follow_the_table_and_its_order() {
    let f = familiar();
    check("nothing", f, Level::Low, &[]);
    check("twice the average is not more than twice", Request { amount: 1000.0, ..f }, Level::Low, &[]);
    check("a centavo more than twice", Request { amount: 1000.01, ..f }, Level::Medium, &[AMOUNT]);
    check("new beneficiary", Request { is_new_beneficiary: true, ..first(f) }, Level::Medium, &[BENEFICIARY]);
    check("new device", Request { is_new_device: true, ..f }, Level::Medium, &[DEVICE]);
    check("location", Request { geolocation_changed: true, ..f }, Level::Low, &[LOCATION]);
    check("two transfers before", Request { num_past_transactions: 2, ..f }, Level::Low, &[HISTORY]);
    check("three transfers before", Request { num_past_transactions: 3, ..f }, Level::Low, &[]);
    check(
        "no history at all: twice nothing means nothing",
        Request { num_past_transactions: 0, avg_transaction_amount: 0.0, max_transaction_amount: 0.0, ..first(f) },
        Level::Medium,
        &[HISTORY],
    );
    check(
        "a first transfer ever",
        Request {
            num_past_transactions: 0,
            avg_transaction_amount: 0.0,
            max_transaction_amount: 0.0,
            is_new_beneficiary: true,
            ..first(f)
        },
        Level::Medium,
        &[BENEFICIARY, HISTORY],
    );
    check(
        "an average counts whatever the number of transfers",
        Request { num_past_transactions: 0, amount: 1100.0, ..f },
        Level::Medium,
        &[AMOUNT, HISTORY],
    );
    check(
        "new device for a new beneficiary",
        Request { is_new_beneficiary: true, is_new_device: true, ..first(f) },
        Level::High,
        &[BENEFICIARY, DEVICE],
    );
    check(
        "everything",
        Request {
            amount: 9000.0,
            is_new_beneficiary: true,
            hour_of_day: 3,
            num_past_transactions: 1,
            is_new_device: true,
            geolocation_changed: true,
            ..first(f)
        },
        Level::High,
        &[AMOUNT, BENEFICIARY, TIME, DEVICE, LOCATION, HISTORY],
    );
}

/// No transfer to this beneficiary yet.
fn first(request: Request) -> Request {
    Request { num_transactions_to_beneficiary: 0, ..request }
}

#[test]
fn only_23_and_0_to_5_are_unusual_hours() {
    for hour_of_day in 0..=23 {
        let unusual = matches!(hour_of_day, 23 | 0..=5);
        let verdict = assessed(&Request { hour_of_day, ..familiar() });
        assert_eq!(verdict.factors == [TIME], unusual, "hour {hour_of_day}");
    }
}

#[test]
fn facts_out_of_range_are_refused_by_name() {
    let f = familiar();
    for wrong in [-0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (field, request) in [
            ("amount", Request { amount: wrong, ..f }),
            ("avg_transaction_amount", Request { avg_transaction_amount: wrong, ..f }),
            ("max_transaction_amount", Request { max_transaction_amount: wrong, ..f }),
        ] {
            let refused = assess(&RISK_2, &request).expect_err("out of range");
            assert_eq!((refused.field, refused.code), (field, "out-of-range"));
        }
    }
    for hour_of_day in [24, 255] {
        assert_eq!(assess(&RISK_2, &Request { hour_of_day, ..f }).expect_err("no such hour").field, "hour_of_day");
    }
}

#[test]
fn levels_change_at_a_quarter_and_at_three_quarters() {
    let below = |edge: f64| f64::from_bits(edge.to_bits() - 1);
    for (score, level) in [
        (0.0, Level::Low),
        (below(MEDIUM_FROM), Level::Low),
        (MEDIUM_FROM, Level::Medium),
        (below(HIGH_FROM), Level::Medium),
        (HIGH_FROM, Level::High),
        (1.0, Level::High),
    ] {
        assert_eq!(Level::of(score), level, "{score}");
    }
}

#[test]
fn saving_a_beneficiary_earns_nothing_for_30_minutes_and_little_after() {
    let score = |minutes| {
        assessed(&Request { is_new_beneficiary: true, beneficiary_saved_minutes: minutes, ..first(familiar()) }).score
    };
    for minutes in 0..=30 {
        assert_eq!(score(Some(minutes)).to_bits(), score(None).to_bits(), "{minutes} minutes");
    }
    assert!(score(Some(31)) < score(Some(30)));
    assert!(score(Some(1470)) < score(Some(31)));
    let most = assessed(&Request { beneficiary_saved_minutes: Some(u32::MAX), ..familiar() });
    let saved = most.contributions.last().expect("there are features");
    assert_eq!(saved.feature, "beneficiary_saved");
    assert!((-0.5..-0.49).contains(&saved.weight), "a third of what a new beneficiary weighs, at most");
}

#[test]
fn a_completed_transfer_lowers_the_next_score() {
    let new = Request { is_new_beneficiary: true, ..first(familiar()) };
    let next = Request { is_new_beneficiary: false, num_transactions_to_beneficiary: 1, ..new };
    assert!(assessed(&next).score < assessed(&new).score);
}

#[test]
fn a_maximum_below_the_average_counts_as_the_average() {
    let odd = Request { amount: 5000.0, max_transaction_amount: 1.0, ..familiar() };
    let even = Request { max_transaction_amount: odd.avg_transaction_amount, ..odd };
    assert_eq!(assessed(&odd), assessed(&even));
}

#[test]
fn weights_in_force_are_sound_and_others_are_not() {
    let sound = RISK_2;
    assert!(sound.is_sound() && RISK_1.is_sound());
    for (index, feature) in FEATURES.iter().enumerate() {
        let mut wrong = sound;
        wrong.coefficients[index] = Some(if feature.raises { -0.1 } else { 0.1 });
        assert!(!wrong.is_sound(), "{}", feature.name);
        wrong.coefficients[index] = Some(f64::INFINITY);
        assert!(!wrong.is_sound(), "{}", feature.name);
    }
    assert!(!Weights { cutpoints: [1.0, 1.0], ..sound }.is_sound());
    assert!(!Weights { cutpoints: [f64::NEG_INFINITY, 1.0], ..sound }.is_sound());
    assert!(!Weights { base: f64::NAN, ..sound }.is_sound());
}

#[test]
fn a_model_contributes_only_what_it_uses() {
    let all_six = Request {
        amount: 9000.0,
        is_new_beneficiary: true,
        hour_of_day: 3,
        num_past_transactions: 1,
        is_new_device: true,
        geolocation_changed: true,
        ..familiar()
    };
    let verdict = assess(&RISK_1, &all_six).expect("the facts are in range");
    let names: Vec<_> = verdict.contributions.iter().map(|part| part.feature).collect();
    assert_eq!(
        names,
        [
            "amount_much_higher_than_average",
            "new_beneficiary",
            "unusual_time",
            "new_device",
            "location_changed",
            "low_history"
        ]
    );
    assert!(verdict.contributions.iter().all(|part| part.weight > 0.0), "each of the six flags raises");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn every_verdict_can_be_checked(request in any_request()) {
        let verdict = assessed(&request);
        prop_assert!((0.0..=1.0).contains(&verdict.score));
        prop_assert_eq!(verdict.level, Level::of(verdict.score));
        prop_assert!(verdict.level == Level::Low || !verdict.factors.is_empty());
        let names: Vec<_> = verdict.contributions.iter().map(|part| part.feature).collect();
        prop_assert_eq!(names, FEATURES.map(|feature| feature.name).to_vec(), "risk-2 uses every feature");
        prop_assert!(verdict.contributions.iter().all(|part| part.weight.is_finite()));
        // No negative zero, whose sign a JSON writer could drop.
        prop_assert!(verdict.contributions.iter().all(|part| part.weight.to_bits() != (-0.0_f64).to_bits()));
    }

    #[test]
    fn base_and_contributions_give_the_score_bit_for_bit(request in any_request()) {
        let verdict = assessed(&request);
        let predictor = verdict.contributions.iter().fold(verdict.base, |sum, part| sum + part.weight);
        prop_assert_eq!(predictor.to_bits(), verdict.predictor().to_bits());
        // A model with that predictor as its base and without features.
        let bare = Weights { base: predictor, coefficients: [None; COUNT], ..RISK_2 };
        let again = assess(&bare, &request).expect("the facts are in range");
        prop_assert_eq!(again.score.to_bits(), verdict.score.to_bits());
    }

    #[test]
    fn without_a_factor_scores_keep_their_order_and_are_low(a in -9.0..9.0_f64, b in -9.0..9.0_f64) {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        let score = |base, request| {
            assess(&Weights { base, ..RISK_2 }, &request).expect("the facts are in range").score
        };
        let explained = Request { is_new_device: true, ..familiar() };
        prop_assert!(score(low, familiar()) <= score(high, familiar()));
        prop_assert!(high - low < 1e-6 || high > 5.0 || score(low, familiar()) < score(high, familiar()));
        prop_assert!(score(high, familiar()) < MEDIUM_FROM);
        prop_assert!(score(high, familiar()) <= score(high, explained));
    }
}
