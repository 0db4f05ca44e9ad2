//! Risk training: the data have the documented distributions, the fit recovers the parameters of the
//! generator, and the shipped models achieve what their cards claim.

use caudal_model::risk::features::FEATURES;
use caudal_model::risk::{Level, Weights, assess};
use caudal_train::metrics::{Confusion, reliability};
use caudal_train::pipeline::{HELD_OUT_ROWS, SEED, Stream};
use caudal_train::random::Random;
use caudal_train::risk::fit::{RISK_1, RISK_2, fit};
use caudal_train::risk::generator::{Row, generate, posterior};
use caudal_train::risk::monotone::{Direction, check};

const SHIPPED_1: &[u8] = include_bytes!("../../risk/models/risk-1/weights.bin");
const SHIPPED_2: &[u8] = include_bytes!("../../risk/models/risk-2/weights.bin");

/// Tolerance for the distance from the best possible result.
const CEILING_GAP_MAX: f64 = 0.006;

fn held_out() -> Vec<Row> {
    generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED))
}

fn most_probable(probabilities: [f64; 3]) -> usize {
    (1..3).fold(0, |best, class| if probabilities[class] > probabilities[best] { class } else { best })
}

fn raw(weights: &Weights<'_>, row: &Row) -> [f64; 3] {
    let verdict = assess(weights, &row.facts).expect("generated rows are in range");
    let [above_low, high] = caudal_model::risk::upper_tails(weights, verdict.predictor());
    [1.0 - above_low, above_low - high, high]
}

fn near(what: &str, value: f64, target: f64, within: f64) {
    assert!((value - target).abs() <= within, "{what}: {value:.4} is not within {within} of {target:.4}");
}

#[test]
fn severities_and_histories_have_the_documented_shares() {
    let rows = held_out();
    let share = |holds: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).count() as f64 / rows.len() as f64;
    for (severity, share_of) in [(Level::Low, 0.34), (Level::Medium, 0.40), (Level::High, 0.26)] {
        near("share of a severity", share(&|row| row.label.severity == severity), share_of, 0.01);
    }
    near("short histories", share(&|row| row.facts.num_past_transactions < 3), 0.19, 0.01);
    near("amounts of 400 or less", share(&|row| row.facts.amount <= 400.0), 0.358, 0.05);
    assert!(rows.iter().all(|row| row.facts.check().is_ok()));
    let coherent = |row: &&Row| {
        let r = &row.facts;
        r.max_transaction_amount >= r.avg_transaction_amount
            && (r.num_past_transactions > 0 || r.avg_transaction_amount == 0.0 && r.is_new_beneficiary)
            && r.num_transactions_to_beneficiary <= r.num_past_transactions
            && r.is_new_beneficiary == (r.num_transactions_to_beneficiary == 0)
    };
    assert_eq!(rows.iter().filter(|row| !coherent(row)).count(), 0);
}

#[test]
fn the_posterior_is_a_calibrated_probability() {
    let rows = held_out();
    for severity in 0..3 {
        let predicted: Vec<_> = rows.iter().map(|row| posterior(&row.facts)[severity]).collect();
        let observed: Vec<_> = rows.iter().map(|row| row.label.severity as usize == severity).collect();
        let error = reliability("", &predicted, &observed).ece;
        assert!(error < 0.008, "severity {severity}: {error}");
    }
}

#[test]
fn shipped_models_reach_the_ceiling_and_the_specifications_figures() {
    let rows = held_out();
    let [one, two] = [SHIPPED_1, SHIPPED_2].map(|file| Weights::parse(file).expect("sound"));
    let figures = |predicted: &dyn Fn(&Row) -> usize| {
        Confusion::of(rows.iter().map(|row| (row.label.severity as usize, predicted(row)))).figures()
    };
    let ceiling = figures(&|row| most_probable(posterior(&row.facts)));
    near("accuracy of the ceiling", ceiling.accuracy, 0.80, 0.005);
    near("macro-F1 of the ceiling", ceiling.macro_f1, 0.81, 0.005);
    let guarded = figures(&|row| {
        let [_, medium, high] = posterior(&row.facts);
        let score = (medium + 2.0 * high) / 2.0;
        let explained = !assess(&two, &row.facts).expect("in range").factors.is_empty();
        if explained { usize::from(score >= 0.25) + usize::from(score >= 0.75) } else { 0 }
    });
    let raw_2 = figures(&|row| most_probable(raw(&two, row)));
    let final_2 = figures(&|row| assess(&two, &row.facts).expect("in range").level as usize);
    let raw_1 = figures(&|row| most_probable(raw(&one, row)));
    near("risk-2, raw accuracy", raw_2.accuracy, ceiling.accuracy, CEILING_GAP_MAX);
    near("risk-2, raw macro-F1", raw_2.macro_f1, ceiling.macro_f1, CEILING_GAP_MAX);
    near("risk-2, final accuracy", final_2.accuracy, guarded.accuracy, CEILING_GAP_MAX);
    near("risk-2, final macro-F1", final_2.macro_f1, guarded.macro_f1, CEILING_GAP_MAX);
    assert!(final_2.accuracy > 0.75 && final_2.macro_f1 > 0.76, "{final_2:?} is not above the specification's model");
    near("risk-1, accuracy", raw_1.accuracy, 0.75, 0.01);
    near("risk-1, macro-F1", raw_1.macro_f1, 0.76, 0.01);
    for severity in 0..3 {
        let predicted: Vec<_> = rows.iter().map(|row| raw(&two, row)[severity]).collect();
        let observed: Vec<_> = rows.iter().map(|row| row.label.severity as usize == severity).collect();
        let error = reliability("", &predicted, &observed).ece;
        assert!(error <= 0.01, "severity {severity}: calibration error {error}");
    }
}

#[test]
fn the_fit_recovers_the_parameters_of_the_generator() {
    let rows = generate(60_000, &mut Random::new(7, 1));
    let weights = fit(&RISK_2, &rows).expect("converges");
    // The parameters of the generator, in units of its noise.
    let truth = [
        ("amount_over_average", 2.6),
        ("amount_over_maximum", 1.9),
        ("new_beneficiary", 1.0),
        ("new_device", 1.2),
        ("location_changed", 1.0),
        ("new_device_and_new_beneficiary", 0.9),
        ("transactions_to_beneficiary", -0.56),
        ("past_transactions", -0.24),
    ];
    for (name, number) in truth {
        let place = FEATURES.iter().position(|feature| feature.name == name).expect("a feature");
        near(name, weights.coefficients[place].expect("fitted"), number / 0.55, 0.25);
    }
    let again = fit(&RISK_2, &rows).expect("converges");
    assert_eq!(weights.to_file(), again.to_file(), "the same rows give the same bytes");
    let other = fit(&RISK_2, &generate(60_000, &mut Random::new(8, 1))).expect("converges");
    assert_ne!(weights.to_file(), other.to_file(), "other rows give other numbers");
    assert!(fit(&RISK_1, &[]).is_err(), "no rows, no weights");
}

#[test]
fn a_model_that_violates_a_guarantee_is_detected() {
    let mut broken = Weights::parse(SHIPPED_2).expect("sound");
    for (direction, feature) in [
        (Direction::Amount, "amount_over_average"),
        (Direction::NewDevice, "new_device"),
        (Direction::Past, "low_history"),
        (Direction::Saved, "beneficiary_saved"),
        (Direction::Hour, "unusual_time"),
    ] {
        let place = FEATURES.iter().position(|it| it.name == feature).expect("a feature");
        let kept = broken.coefficients[place];
        let sound = check(direction, &broken, 2_000, &mut Random::new(1, 1));
        assert!(sound.violations == 0 && sound.differ > 200, "{direction:?}: {sound:?}");
        broken.coefficients[place] = kept.map(|weight| -4.0 * weight);
        assert_ne!(check(direction, &broken, 2_000, &mut Random::new(1, 1)).violations, 0, "{direction:?}");
        broken.coefficients[place] = kept;
    }
}
