//! The measures against manual calculations, and the random numbers against their definitions.

use caudal_train::metrics::{Confusion, bootstrap, brier, reliability, wilson};
use caudal_train::random::Random;

fn near(what: &str, value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() <= within, "{what}: {value} instead of {expected}");
}

#[test]
fn accuracy_and_macro_f1_by_hand() {
    // Rows are true classes, columns predicted ones.
    let figures = Confusion([[3, 1, 0], [1, 2, 1], [0, 0, 2]]).figures();
    near("accuracy", figures.accuracy, 7.0 / 10.0, 1e-15);
    let f1 = [6.0 / 8.0, 4.0 / 7.0, 4.0 / 5.0];
    near("macro-F1", figures.macro_f1, f1.iter().sum::<f64>() / 3.0, 1e-15);
    let one_class = Confusion::of([(1, 1), (1, 1)]).figures();
    near("a class that never occurs counts nothing", one_class.macro_f1, 1.0 / 3.0, 1e-15);
    assert_eq!(Confusion::default().figures().accuracy, 0.0);
}

#[test]
fn intervals_hold_the_figure_and_shrink_with_rows() {
    // Wilson's interval of 8 of 10, from its formula.
    let interval = wilson(8, 10);
    near("low", interval.low, 0.4902, 1e-4);
    near("high", interval.high, 0.9433, 1e-4);
    assert_eq!(wilson(0, 0).value, 0.0);
    near("none of 50, low", wilson(0, 50).low, 0.0, 1e-12);
    near("all of 50, high", wilson(50, 50).high, 1.0, 1e-12);

    let mut random = Random::new(1, 1);
    let truth: Vec<_> = (0..2000).map(|row| row % 3).collect();
    // Correct four times out of five; both models predict the same.
    let predicted: Vec<_> =
        truth.iter().map(|&class| if random.chance(0.8) { class } else { (class + 1) % 3 }).collect();
    let result = bootstrap(&truth, &[predicted.clone(), predicted], &[0, 0], &mut random);
    let accuracy = result.accuracy[0];
    assert!(accuracy.low < accuracy.value && accuracy.value < accuracy.high);
    near("width of 2,000 rows", accuracy.high - accuracy.low, 2.0 * 1.96 * (0.16_f64 / 2000.0).sqrt(), 0.008);
    let gap = result.accuracy_gap[1];
    assert_eq!((gap.low, gap.value, gap.high), (0.0, 0.0, 0.0), "a model has no distance from itself");
}

#[test]
fn calibration_error_is_small_only_for_calibrated_probabilities() {
    let mut random = Random::new(2, 1);
    let predicted: Vec<_> = (0..30_000).map(|_| random.uniform()).collect();
    let observed: Vec<_> = predicted.iter().map(|&predicted| random.chance(predicted)).collect();
    assert!(reliability("fair", &predicted, &observed).ece < 0.012);
    let overconfident: Vec<_> = predicted.iter().map(|predicted| (predicted + 0.1).min(1.0)).collect();
    near("a tenth too high", reliability("", &overconfident, &observed).ece, 0.095, 0.015);
    let bins = reliability("", &predicted, &observed).bins;
    assert_eq!((bins.len(), bins.iter().map(|bin| bin.rows).sum::<usize>()), (15, 30_000));
    assert!(bins.windows(2).all(|pair| pair[0].predicted < pair[1].predicted));
    near("Brier", brier(&[0.8, 0.4], &[true, false]), (0.04 + 0.16) / 2.0, 1e-15);
}

#[test]
fn random_numbers_follow_their_definitions() {
    let mut random = Random::new(4, 1);
    let mean = |draw: &mut dyn FnMut() -> f64| (0..100_000).map(|_| draw()).sum::<f64>() / 1e5;
    near("uniform", mean(&mut || random.uniform()), 0.5, 0.005);
    near("normal", mean(&mut || random.normal(2.0, 3.0)), 2.0, 0.05);
    near("its square", mean(&mut || random.normal(0.0, 3.0).powi(2)), 9.0, 0.2);
    near("logistic, squared", mean(&mut || random.logistic(0.55).powi(2)), 0.55_f64.powi(2) * 3.29, 0.05);
    near("geometric", mean(&mut || f64::from(random.geometric(0.2))), 4.0, 0.1);
    near("negative binomial", mean(&mut || f64::from(random.negative_binomial(0.9, 19.0))), 19.0, 0.4);
    near("its zeros", mean(&mut || f64::from(u8::from(random.negative_binomial(0.9, 19.0) == 0))), 0.064, 0.005);
    near("weights", mean(&mut || random.weighted(&[1.0, 0.0, 3.0]) as f64), 1.5, 0.02);
    near("below", mean(&mut || random.below(10) as f64), 4.5, 0.05);
    let (mut a, mut b, mut c) = (Random::new(5, 1), Random::new(5, 1), Random::new(5, 2));
    assert_eq!(a.uniform(), b.uniform());
    assert_ne!(a.uniform(), c.uniform(), "streams of one seed differ");
}
