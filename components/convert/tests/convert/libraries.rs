//! Predictors are those of the libraries, and answers say what the map says.

use crate::common::{EXPECTED, MAP, MODELS, built, model};
use caudal_ensemble::{Kind, MISSING_FACT, Model, Outcome};
use serde_json::Value;

/// A row in the units of the facts.
fn values(row: &Value) -> Vec<Option<f64>> {
    let mut values: Vec<_> = row.as_array().expect("a row is an array").iter().map(Value::as_f64).collect();
    values[0] = values[0].map(|pesos| pesos * 100.0);
    values
}

fn assess(model: &Model<'_>, values: &[Option<f64>]) -> (f64, f64, Vec<u16>) {
    match model.assess(values) {
        Outcome::Scored { predictor, score, reasons } => (predictor, score, reasons),
        Outcome::Abstained(_) => panic!("the only required fact is given"),
    }
}

#[test]
fn predictors_are_those_of_the_libraries() {
    let expected: Value = serde_json::from_str(EXPECTED).expect("the expected predictors are JSON");
    let rows = expected["rows"].as_array().expect("there are rows");
    for (name, bytes) in &MODELS[..4] {
        let built = built(bytes, MAP).expect("the model is monotone");
        let model = model(&built);
        for (row, predictor) in rows.iter().zip(expected[name].as_array().expect("there are predictors")) {
            let values = values(row);
            let (found, ..) = assess(&model, &values);
            let library = predictor.as_f64().expect("a predictor is a number");
            // ONNX has no order of addition, and its runtime gives probabilities in f32.
            let tolerance = if *name == "model.onnx" { 1e-5 } else { 0.0 };
            assert!((found - library).abs() <= tolerance, "{name}: {found} instead of {library} for {row}");
            let explanation = model.explain(&values);
            let sum = explanation.contributions.iter().fold(explanation.base, |sum, part| sum + part);
            assert!((sum - found).abs() <= 1e-12, "{name}: the explanation of {row} adds up to {sum}, not to {found}");
        }
    }
}

#[test]
fn a_scorecard_adds_the_points_of_the_steps() {
    let built = built(MODELS[4].1, MAP).expect("the scorecard is monotone");
    let predictor = |values| assess(&model(&built), values).0;
    assert_eq!(predictor(&[Some(99_999.0), Some(21.0), Some(0.0), None]), -2.5 + 0.25 + 0.125);
    assert_eq!(predictor(&[Some(100_000.0), Some(22.0), Some(1.0), Some(0.0)]), -2.5 + 0.5 + 0.75 + 1.5 + 0.5);
    assert_eq!(predictor(&[Some(-1.0), None, None, Some(60.0)]), -2.5 - 0.5);
}

#[test]
fn answers_say_what_the_map_says() {
    let built = built(MODELS[4].1, MAP).expect("the scorecard is monotone");
    let model = model(&built);
    assert_eq!((model.version(), model.summary()), ("3.1.0", "Fraud of the first quarter."));
    let facts: Vec<_> = model.facts().collect();
    assert_eq!(facts.len(), 5);
    assert_eq!(facts[0], ("amount", Kind::Number, "centavos", true));
    assert_eq!(facts[2], ("is_new_beneficiary", Kind::Flag, "", false));
    assert_eq!(model.reasons().collect::<Vec<_>>(), ["LATE_OR_EARLY", "LARGE", "LOW_AVERAGE", MISSING_FACT]);

    assert_eq!(model.assess(&[None, Some(1.0)]), Outcome::Abstained(3));
    let reasons = |amount, hour, average| assess(&model, &[Some(amount), hour, None, None, average]).2;
    assert_eq!(reasons(200_050.0, Some(23.0), None), [0, 1]);
    assert_eq!(reasons(200_049.0, Some(5.0), Some(10_000.0)), [0, 2]);
    assert_eq!(reasons(0.0, Some(12.0), Some(10_001.0)), [0; 0]);
}

/// Its predictor is the hour.
const LINEAR: &str = r#"{"format": "caudal-model-1", "features": ["importe", "hora", "nuevo", "minutos"], "inputs": "f64",
    "sum": "f64", "base": 0, "link": "logistic", "trees": [], "linear": {"coefficients": [0, 1, 0, 0]}}"#;

#[test]
fn scores_follow_the_calibration_and_never_fall() {
    let map = MAP.replacen("\"hora\"", "\"hora\"\nrequired = true", 1);
    let built = built(LINEAR.as_bytes(), &map).expect("a linear model");
    let model = model(&built);
    let score = |hour| assess(&model, &[Some(0.0), Some(hour)]).1;
    for (predictor, expected) in [(-9.0, 0.0), (-4.0, 0.0), (-1.5, 0.1), (1.25, 0.7), (2.5, 0.95), (1e300, 1.0)] {
        assert_eq!(score(predictor), expected, "at {predictor}");
    }
    for start in [-4.0, -1.5, -1e-9, 0.3, 2.5, 3.9] {
        let (mut hour, mut last) = (start, score(f64::next_down(start)));
        for _ in 0..1_000 {
            let next = score(hour);
            assert!(last <= next && next <= 1.0, "{next} after {last} at {hour}");
            (hour, last) = (hour.next_up(), next);
        }
    }
}
