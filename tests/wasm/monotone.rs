//! Risk components are monotone: the order of transfers that differ in one fact. Training compares ten times as
//! many pairs natively for the card.

use caudal::scoring::{Risk, Scorer};
use caudal_model::risk::Weights;
use caudal_train::random::Random;
use caudal_train::risk::monotone::{Direction, pair};

use crate::built::{component, runtime};
use crate::golden::risk_request;
use crate::models::{RISK_1, RISK_2};

/// Pairs for each guarantee.
const PAIRS: usize = 100_000;
/// Pairs in one instance.
const BATCH: usize = 200;

fn satisfies_every_guarantee(artefact: &str, weights: &Weights<'_>, seed: u64) {
    let scorer = Scorer::<Risk>::load(runtime(), &component(artefact)).unwrap();
    for direction in Direction::ALL {
        let mut random = Random::new(seed, direction as u64);
        for _ in 0..PAIRS / BATCH {
            let pairs: Vec<_> = (0..BATCH).map(|_| pair(direction, weights, &mut random)).collect();
            let requests: Vec<_> =
                pairs.iter().flat_map(|&(safer, riskier)| [safer, riskier]).map(|it| risk_request(&it)).collect();
            let answers = scorer.assess_batch(&requests).unwrap();
            for (answers, requests) in answers.chunks(2).zip(requests.chunks(2)) {
                let [safer, riskier] = [0, 1].map(|at| answers[at].as_ref().unwrap().score);
                assert!(safer <= riskier, "{direction:?}: {safer} > {riskier} for {requests:?}");
            }
        }
    }
}

#[test]
fn risk_2_is_monotone() {
    satisfies_every_guarantee("risk", &RISK_2, 2);
}

#[test]
fn risk_1_is_monotone() {
    satisfies_every_guarantee("risk-1", &RISK_1, 1);
}
