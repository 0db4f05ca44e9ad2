//! What a component answers to the cases of its kind, in short: registered with its version, and compared wherever it is
//! loaded. A processor, kernel or engine that computes other bits is found before they serve anybody.

use std::fmt::Debug;

use sha2::{Digest as _, Sha256};

use crate::domain::model::{Digest, PolicyClass};
use crate::scoring::cases;
use crate::scoring::facts::grid;
use crate::scoring::kind::{Kind, Scorer};
use crate::wasm::{ScoreError, TransferRules};

/// Grows whenever the test below fails for unchanged answers: what earlier releases registered is not compared then.
const FORM: u8 = 2;

/// Cases for a component with a language runtime, each of which takes about a millisecond. Others take microseconds.
const CASES_OF_DENY_ALL: usize = 4;

/// Digits that tell one set of cases from another.
const CASES_DIGITS: usize = 16;

/// # Errors
/// When it has no usable answer to a case.
pub(crate) fn answers_of<K: Kind>(scorer: &Scorer<K>) -> Result<String, String> {
    let cases = cases::read::<K>(K::CASES)?;
    let most = match scorer.identity().class {
        PolicyClass::Pure => cases.len(),
        PolicyClass::DenyAll => CASES_OF_DENY_ALL,
    };
    let requests: Vec<_> = cases.into_iter().take(most).map(|(_, envelope)| envelope.request).collect();
    let answers = scorer.assess_batch(&requests).and_then(|answers| answers.into_iter().map(or_abstained).collect());
    in_short(&requests, answers)
}

/// To abstain is an answer, too.
fn or_abstained<A>(answer: Result<A, ScoreError>) -> Result<Result<A, &'static str>, ScoreError> {
    match answer {
        Err(ScoreError::Abstained(reason)) => Ok(Err(reason)),
        other => other.map(Ok),
    }
}

/// # Errors
/// When they have no usable answer to a case.
pub(crate) fn answers_of_rules(rules: &TransferRules) -> Result<String, String> {
    let facts = grid();
    let verdicts = facts.iter().map(|facts| rules.decide(facts)).collect();
    in_short(&facts, verdicts)
}

/// Digests of the cases and of the answers. `Debug` writes each finite number in a way of its own, zeros of either sign
/// included.
fn in_short<Q: Debug, A: Debug>(asked: &[Q], answered: Result<Vec<A>, ScoreError>) -> Result<String, String> {
    let digest = |text: String| Digest(Sha256::digest(text).into()).to_string();
    let answered = answered.map_err(|error| error.to_string())?;
    let cases = digest(format!("{FORM} {asked:?}"));
    Ok(format!("{}-{}", &cases[..CASES_DIGITS], digest(format!("{answered:?}"))))
}

/// Whether both are about the same cases and differ. Another release may have other cases.
pub(crate) fn contradict(one: &str, other: &str) -> bool {
    match (one.split_once('-'), other.split_once('-')) {
        (Some((cases, answers)), Some((other_cases, others))) => cases == other_cases && answers != others,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::risk::{Assessment, Level};

    #[test]
    fn only_other_answers_to_the_same_cases_contradict() {
        let short = |asked: u8, answer: f64| in_short(&[asked], Ok(vec![answer])).unwrap();
        assert!(contradict(&short(1, 0.0), &short(1, -0.0)));
        assert!(contradict(&short(1, 0.1), &short(1, 0.1_f64.next_up())));
        assert!(!contradict(&short(1, 0.1), &short(1, 0.1)));
        assert!(!contradict(&short(1, 0.1), &short(2, 0.2)), "another release's cases");
    }

    #[test]
    fn the_form_of_answers_changes_only_with_its_number() {
        let factors = vec!["NEW_BENEFICIARY".to_owned()];
        let answer = Assessment {
            level: Level::Medium,
            score: -0.0,
            predictor: Some(0.25),
            factors,
            reasons: vec!["MISSING_FACT"],
        };
        let expected = "b2469103742d4d8b-04f0f2d91b2e9db10473a009fdbb700f1fad763ff633222914099218fa29194b";
        assert_eq!(in_short(&[7], Ok(vec![answer])).unwrap(), expected);
    }
}
