//! The golden cases over HTTP, sent as the JSON text of a request.
//!
//! `tests/golden` has two kinds of files. Those written by training, with the bits of every number, prove that a
//! runtime computes what was trained. Those derived by hand from the specification's tables prove that what was
//! trained is right; `reviewed` has the default model's answer to every questionnaire, with the reason why it is right.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Client, TestApp};

/// Minimum number of trained cases of each kind.
const TRAINED_MIN: usize = 300;
/// Minimum number of hand-written cases.
const BY_HAND_MIN: usize = 40;
/// Number of ways to answer the questionnaire.
const QUESTIONNAIRES: usize = 48;

#[derive(Deserialize)]
struct Case {
    case: String,
    /// The text in the file.
    request: Box<RawValue>,
    expect: Value,
    /// The score is strictly below that of an earlier case.
    score_below: Option<String>,
    /// The score is not above it.
    score_at_most: Option<String>,
}

fn cases(file: &str, least: usize) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden").join(file);
    let text = fs::read_to_string(&path).unwrap();
    let cases: Vec<Case> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= least, "{file} has {} cases", cases.len());
    cases
}

/// The response to a case, with the text of its numbers.
async fn ask(ai: &Client, path: &str, case: &Case) -> Value {
    ai.post_text(path, case.request.get()).await.assert_status(200).json()
}

fn bits(number: &Value) -> String {
    format!("{:016x}", number.as_f64().unwrap().to_bits())
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn trained_cases_match_bit_for_bit(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    for case in cases("risk-2.ndjson", TRAINED_MIN) {
        let result = ask(&ai, "/ai/risk", &case).await["result"].take();
        let actual = [result["risk_level"].clone(), json!(bits(&result["risk_score"])), result["risk_factors"].clone()];
        let expected = ["risk_level", "risk_score", "risk_factors"].map(|field| case.expect[field].clone());
        assert_eq!(actual, expected, "{}", case.case);
    }
    for case in cases("nudge-1.ndjson", TRAINED_MIN) {
        let mut result = ask(&ai, "/ai/nudge", &case).await["result"].take();
        result["difficulty_score"] = json!(bits(&result["difficulty_score"]));
        assert_eq!(result, case.expect, "{}", case.case);
    }
    for case in cases("accessibility-2.ndjson", TRAINED_MIN) {
        let answer = ask(&ai, "/ai/accessibility", &case).await;
        let mut actual = answer["recommendation"].clone();
        actual["font_scale"] = json!(bits(&actual["font_scale"]));
        actual["confidence"] = json!(bits(&answer["confidence"]));
        actual["explanation"] = answer["explanation"].clone();
        assert_eq!(actual, case.expect, "{}", case.case);
    }
}

/// The scores of earlier cases, by name.
#[derive(Default)]
struct Scores(HashMap<String, f64>);

impl Scores {
    fn add(&mut self, case: &Case, score: &Value) {
        let score = score.as_f64().unwrap();
        let of = |other: &String| self.0.get(other).unwrap_or_else(|| panic!("{} names {other}", case.case));
        if let Some(other) = &case.score_below {
            assert!(score < *of(other), "{}: {score} is not below {} of {other}", case.case, of(other));
        }
        if let Some(other) = &case.score_at_most {
            assert!(score <= *of(other), "{}: {score} is above {} of {other}", case.case, of(other));
        }
        assert!(self.0.insert(case.case.clone(), score).is_none(), "{} appears twice", case.case);
    }
}

/// Asserts every expectation except `besides`, which are not fields of the response.
fn assert_holds(case: &Case, answer: &Value, besides: &[&str]) {
    let expect = case.expect.as_object().unwrap();
    assert!(!expect.is_empty(), "{} expects nothing", case.case);
    for (field, expected) in expect.iter().filter(|(field, _)| !besides.contains(&field.as_str())) {
        assert_eq!(&answer[field], expected, "{}: {field} of {answer}", case.case);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hand_written_cases_match_the_specification(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let mut scores = Scores::default();
    for case in cases("hand/risk.ndjson", BY_HAND_MIN) {
        let result = ask(&ai, "/ai/risk", &case).await["result"].take();
        assert_holds(&case, &result, &[]);
        scores.add(&case, &result["risk_score"]);
    }
    for case in cases("hand/nudge.ndjson", BY_HAND_MIN) {
        let result = ask(&ai, "/ai/nudge", &case).await["result"].take();
        assert_holds(&case, &result, &["not_type"]);
        assert_ne!(result["recommended_nudge_type"], case.expect["not_type"], "{}", case.case);
        scores.add(&case, &result["difficulty_score"]);
    }
    for case in cases("reviewed/accessibility-2.ndjson", QUESTIONNAIRES) {
        let answer = ask(&ai, "/ai/accessibility", &case).await;
        assert_holds(&case, &answer["recommendation"], &["confidence", "explanation"]);
        assert_eq!(
            [&answer["confidence"], &answer["explanation"]],
            ["confidence", "explanation"].map(|it| &case.expect[it])
        );
    }
    for case in cases("hand/accessibility.ndjson", BY_HAND_MIN) {
        let answer = ask(&ai, "/ai/accessibility", &case).await;
        assert_holds(&case, &answer["recommendation"], &["confidence_min", "confidence_max"]);
        let confidence = answer["confidence"].as_f64().unwrap();
        let bound = |bound: &str, otherwise| case.expect[bound].as_f64().unwrap_or(otherwise);
        let bounds = bound("confidence_min", 0.0)..=bound("confidence_max", 1.0);
        assert!(bounds.contains(&confidence), "{}: {confidence} is not in {bounds:?}", case.case);
    }
}
