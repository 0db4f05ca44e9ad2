//! The curves are accurate, and monotone down to neighbouring numbers.

use caudal_model::curve::{each_ln_from_one, each_sigmoid, ln_from_one, sigmoid};
use proptest::prelude::*;

/// Neighbouring numbers that are tested on each side of a point.
const NEIGHBOURS: u64 = 64;

fn next(x: f64) -> f64 {
    f64::from_bits(x.to_bits() + 1)
}

#[test]
fn logarithm_of_one_and_below_is_zero() {
    for x in [1.0, 0.999, 0.0, -3.0, f64::NEG_INFINITY, f64::NAN] {
        assert_eq!(ln_from_one(x).to_bits(), 0, "ln {x}");
    }
}

#[test]
fn logarithm_stays_finite() {
    assert_eq!(ln_from_one(f64::INFINITY), ln_from_one(f64::MAX));
    assert!((ln_from_one(f64::MAX) - 709.782_712_893_384).abs() < 1e-9);
}

#[test]
fn sigmoid_has_its_known_values() {
    assert_eq!(sigmoid(0.0), 0.5);
    assert_eq!(sigmoid(-0.0), 0.5);
    assert_eq!(sigmoid(f64::INFINITY), 1.0);
    assert!(sigmoid(f64::NEG_INFINITY) < 1e-300);
    assert!((sigmoid(1.0) - 0.731_058_578_630_004_9).abs() < 1e-15);
}

#[test]
fn curves_keep_order_across_powers_of_two() {
    for power in 1..60 {
        let edge = f64::from_bits(2_f64.powi(power).to_bits() - NEIGHBOURS);
        let mut x = edge;
        for _ in 0..2 * NEIGHBOURS {
            assert!(ln_from_one(x) <= ln_from_one(next(x)), "ln around 2^{power}");
            x = next(x);
        }
        let edge = f64::from(power) * core::f64::consts::LN_2;
        let mut x = f64::from_bits(edge.to_bits() - NEIGHBOURS);
        for _ in 0..2 * NEIGHBOURS {
            assert!(sigmoid(x) <= sigmoid(next(x)), "sigmoid around {power} ln 2");
            assert!(sigmoid(-x) >= sigmoid(-next(x)), "sigmoid around -{power} ln 2");
            x = next(x);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn several_at_once_have_the_same_bits(all in [-800.0..800.0_f64, -2.0..2.0, 0.0..1e300, -1e300..1e300]) {
        prop_assert_eq!(each_ln_from_one(all).map(f64::to_bits), all.map(|x| ln_from_one(x).to_bits()));
        prop_assert_eq!(each_sigmoid(all).map(f64::to_bits), all.map(|x| sigmoid(x).to_bits()));
    }

    #[test]
    fn logarithm_is_accurate_and_monotone(x in 1.0..1e12_f64) {
        prop_assert!((ln_from_one(x) - libm::log(x)).abs() <= 1e-14);
        prop_assert!(ln_from_one(x) <= ln_from_one(next(x)));
    }

    #[test]
    fn sigmoid_is_accurate_and_monotone(x in -40.0..40.0_f64) {
        let reference = 1.0 / (1.0 + libm::exp(-x));
        prop_assert!((sigmoid(x) - reference).abs() <= 1e-13 * reference);
        let (low, high) = if x < 0.0 { (next(x), x) } else { (x, next(x)) };
        prop_assert!(sigmoid(low) <= sigmoid(high));
    }
}
