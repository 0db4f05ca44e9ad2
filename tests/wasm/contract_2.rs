//! Contract 2: facts by position, a level and factors from the host, and components that abstain.

use caudal::domain::risk::{Level, Request};
use caudal::scoring::{Risk, Scorer};
use caudal::wasm::ScoreError;

use crate::built::{hostile_risk_2, runtime};

fn scorer(behaviour: &str) -> Scorer<Risk> {
    Scorer::<Risk>::load(runtime(), &hostile_risk_2(behaviour)).unwrap()
}

/// A payment of 50,000 pesos, in which no factor applies.
fn plain() -> Request {
    let (hour_of_day, num_past_transactions, avg_transaction_amount) = (12, 30, 60_000.0);
    Request { amount: 50_000.0, hour_of_day, num_past_transactions, avg_transaction_amount, ..Request::default() }
}

#[test]
fn values_arrive_in_the_order_of_the_manifest_and_money_in_centavos() {
    let scorer = scorer("sane");
    let identity = scorer.identity();
    assert_eq!(identity.version.semantic_version(), "6.6.6");
    let facts: Vec<_> = identity.manifest.as_ref().unwrap().facts.iter().map(|fact| fact.name).collect();
    assert_eq!(facts, ["amount", "is_new_beneficiary"]);

    // An eighth, half of a quarter for the amount, and a quarter for a new payee.
    let low = scorer.assess(&plain()).unwrap();
    assert_eq!((low.score, low.level, low.predictor), (0.25, Level::Medium, Some(0.25)));
    assert!(low.factors.is_empty() && low.reasons.is_empty());
    let new = Request { is_new_beneficiary: true, ..plain() };
    let medium = scorer.assess(&new).unwrap();
    assert_eq!((medium.score, medium.level), (0.5, Level::Medium));
    assert_eq!((medium.factors, medium.reasons), (vec!["NEW_BENEFICIARY".to_owned()], vec!["NEW_BENEFICIARY"]));
    let explained = scorer.explain(&new).unwrap().unwrap();
    assert_eq!((explained.base, explained.contributions), (0.125, vec![0.125, 0.25]));
}

#[test]
fn who_abstains_gives_a_reason() {
    let error = scorer("abstains").assess(&plain()).unwrap_err();
    assert!(matches!(error, ScoreError::Abstained("NEW_BENEFICIARY")) && !error.is_model_fault(), "{error:?}");
    let both = [plain(), Request { is_new_beneficiary: true, ..plain() }];
    let answers = scorer("abstains-new").assess_batch(&both).unwrap();
    assert!(answers[0].is_ok() && matches!(answers[1], Err(ScoreError::Abstained(_))), "{answers:?}");
}
