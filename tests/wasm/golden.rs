//! The golden cases from training: the same bits from native code and from each component, one by one and
//! in a batch. `tests/api` sends the same files over HTTP.

use caudal::domain::{accessibility as a11y, nudge, profile, risk};
use caudal::scoring::{Accessibility, Nudge, Risk, Scorer};

use caudal_model as native;
use caudal_train::data::code;
use caudal_train::golden::{Case, bits};
use caudal_train::{accessibility, nudge as trained_nudge, risk as trained_risk};
use serde::de::DeserializeOwned;

use crate::built::{component, root, runtime};
use crate::models::{ACCESSIBILITY_2, NUDGE_1, RISK_1, RISK_2};

/// Minimum number of cases in a file.
const CASES_MIN: usize = 300;

fn cases<R: DeserializeOwned, E: DeserializeOwned>(model: &str) -> Vec<Case<R, E>> {
    let path = root().join("tests/golden").join(model).with_extension("ndjson");
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<_> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= CASES_MIN, "{model} has {} cases", cases.len());
    cases
}

fn risk_expect(answer: &risk::Assessment, predictor: f64) -> trained_risk::golden::Expect {
    trained_risk::golden::Expect {
        risk_level: answer.level.to_string(),
        risk_score: bits(answer.score),
        risk_factors: answer.factors.clone(),
        predictor: bits(predictor),
    }
}

#[test]
fn risk_models_answer_their_golden_cases_bit_for_bit() {
    let built_for_1_0_0 = std::fs::read(root().join("tests/wit/risk-1.0.0.wasm")).unwrap();
    let scorers = [
        ("risk-1", component("risk-1"), RISK_1),
        ("risk-2", component("risk"), RISK_2),
        ("risk-2", built_for_1_0_0, RISK_2),
    ];
    for (model, component, weights) in scorers {
        let scorer = Scorer::<Risk>::load(runtime(), &component).unwrap();
        let cases: Vec<Case<native::risk::Request, trained_risk::golden::Expect>> = cases(model);
        let requests: Vec<_> = cases.iter().map(|case| risk_request(&case.request)).collect();
        let together = scorer.assess_batch(&requests).unwrap();
        for ((case, request), batched) in cases.iter().zip(&requests).zip(together) {
            let native = trained_risk::golden::expect(&weights, &case.request);
            assert_eq!(native.as_ref(), Some(&case.expect), "{}: native", case.case);
            let alone = scorer.assess(request).unwrap();
            let predictor = scorer.explain(request).unwrap().unwrap().predictor;
            assert_eq!(risk_expect(&alone, predictor), case.expect, "{}: component", case.case);
            assert_eq!(risk_expect(&batched.unwrap(), predictor), case.expect, "{}: batch", case.case);
        }
    }
}

/// The host's type of a request.
pub(crate) fn risk_request(facts: &native::risk::Request) -> risk::Request {
    risk::Request {
        amount: facts.amount,
        is_new_beneficiary: facts.is_new_beneficiary,
        hour_of_day: facts.hour_of_day,
        num_past_transactions: facts.num_past_transactions,
        avg_transaction_amount: facts.avg_transaction_amount,
        max_transaction_amount: facts.max_transaction_amount,
        num_transactions_to_beneficiary: facts.num_transactions_to_beneficiary,
        is_new_device: facts.is_new_device,
        geolocation_changed: facts.geolocation_changed,
        beneficiary_saved_minutes: facts.beneficiary_saved_minutes,
        ..risk::Request::default()
    }
}

#[test]
fn the_nudge_model_answers_its_golden_cases_bit_for_bit() {
    let scorer = Scorer::<Nudge>::load(runtime(), &component("nudge")).unwrap();
    let cases: Vec<Case<trained_nudge::generator::Facts, trained_nudge::golden::Expect>> = cases("nudge-1");
    let request = |facts: &trained_nudge::generator::Facts| nudge::Request {
        screen: facts.screen.clone(),
        num_validation_errors: facts.num_validation_errors,
        time_on_screen_seconds: facts.time_on_screen_seconds,
        num_back_navigations: facts.num_back_navigations,
        steps_total: facts.steps_total,
        current_step: facts.current_step,
    };
    let expect = |answer: &nudge::Assessment| trained_nudge::golden::Expect {
        needs_help: answer.needs_help,
        difficulty_score: bits(answer.difficulty_score),
        recommended_nudge_type: answer.nudge_type.to_string(),
        reason: answer.reason.clone(),
    };
    let requests: Vec<_> = cases.iter().map(|case| request(&case.request)).collect();
    let together = scorer.assess_batch(&requests).unwrap();
    for ((case, request), batched) in cases.iter().zip(&requests).zip(together) {
        let native = trained_nudge::golden::expect(&NUDGE_1, &case.request.request());
        assert_eq!(native.as_ref(), Some(&case.expect), "{}: native", case.case);
        assert_eq!(expect(&scorer.assess(request).unwrap()), case.expect, "{}: component", case.case);
        assert_eq!(expect(&batched.unwrap()), case.expect, "{}: batch", case.case);
    }
}

/// The host's type of a request.
fn a11y_request(facts: &accessibility::generator::Facts) -> a11y::Request {
    use native::accessibility::AppConfidence;
    a11y::Request {
        can_read_small_text: facts.can_read_small_text,
        uses_screen_reader: facts.uses_screen_reader,
        feels_confident_with_apps: match facts.feels_confident_with_apps {
            AppConfidence::Low => a11y::AppConfidence::Low,
            AppConfidence::Medium => a11y::AppConfidence::Medium,
            AppConfidence::High => a11y::AppConfidence::High,
        },
        age_range: a11y::AgeRange::parse(&code(facts.age_range)).unwrap(),
        avg_time_per_screen_seconds: facts.avg_time_per_screen_seconds,
        total_validation_errors: facts.total_validation_errors,
        requested_help_count: facts.requested_help_count,
        behaviour_observed: true,
        language: a11y::Language::Spanish,
    }
}

#[test]
fn the_accessibility_model_answers_its_golden_cases_bit_for_bit() {
    use accessibility::generator::Facts;
    use accessibility::golden::Expect;
    let expect = |answer: a11y::Assessment| {
        let profile::Profile { theme, screen_reader_mode, font_scale, nudging_level, voice_feedback } = answer.profile;
        Expect {
            theme: theme.to_string(),
            screen_reader_mode,
            font_scale: bits(font_scale),
            nudging_level: nudging_level.to_string(),
            voice_feedback,
            confidence: bits(answer.confidence),
            explanation: answer.explanation,
        }
    };
    let scorer = Scorer::<Accessibility>::load(runtime(), &component("accessibility")).unwrap();
    let cases: Vec<Case<Facts, Expect>> = cases("accessibility-2");
    let requests: Vec<_> = cases.iter().map(|case| a11y_request(&case.request)).collect();
    let together = scorer.assess_batch(&requests).unwrap();
    for ((case, request), batched) in cases.iter().zip(&requests).zip(together) {
        let native = native::accessibility::assess(&ACCESSIBILITY_2, &case.request.request());
        assert_eq!(accessibility::golden::expect(&native), case.expect, "{}: native", case.case);
        assert_eq!(expect(scorer.assess(request).unwrap()), case.expect, "{}: component", case.case);
        assert_eq!(expect(batched.unwrap()), case.expect, "{}: batch", case.case);
    }
}
