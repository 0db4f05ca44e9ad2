//! Damaged files give an error with its place, or a component that answers.

use crate::common::{MAP, MODELS, built, model};
use crate::tables;
use caudal_ensemble::Outcome;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use wasmparser::Validator;

const MUTATIONS: u64 = 1_000;
/// What a mutation writes: digits and punctuation of the formats, and bytes that are none.
const BYTES: &[u8] = b"0123456789-.,:=\"[]{}eE \n\0\x7f\xff";

/// Replaces, removes, repeats or truncates at one to four places.
fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |bound: usize| random.next_u64() as usize % bound.max(1);
    let mut bytes = bytes.to_vec();
    for _ in 0..=below(4) {
        let at = below(bytes.len());
        let end = bytes.len().min(at + 1 + below(40));
        match below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec()).collect::<Vec<_>>()),
            _ if at < bytes.len() => bytes[at] = BYTES[below(BYTES.len())],
            _ => {}
        }
    }
    bytes
}

/// Whether the damage was noticed.
fn check(bytes: &[u8], map: &str, what: &str) -> bool {
    let built = match built(bytes, map) {
        Ok(built) => built,
        Err(error) => {
            assert!(error.problem.len() > 10, "{what}: {error}");
            return true;
        }
    };
    Validator::new().validate_all(&built.component).unwrap_or_else(|error| panic!("{what}: {error}"));
    let values = [Some(123_456.0), Some(23.0), None, Some(7.5)];
    let model = model(&built);
    if let Outcome::Scored { predictor, score, .. } = model.assess(&values) {
        let explanation = model.explain(&values);
        let sum = explanation.contributions.iter().fold(explanation.base, |sum, part| sum + part);
        let near = (sum - predictor).abs() <= predictor.abs().max(1.0) / 1_048_576.0;
        assert!((0.0..=1.0).contains(&score) && near, "{what}: predictor {predictor}, score {score}, sum {sum}");
    }
    false
}

#[test]
fn damaged_models_are_refused_or_answer() {
    for (name, bytes) in MODELS {
        let noticed = (0..MUTATIONS).filter(|seed| check(&mutated(bytes, *seed), MAP, &format!("{name}, seed {seed}")));
        let noticed = noticed.count() as u64;
        assert!((1..MUTATIONS).contains(&noticed), "{name}: {noticed} of {MUTATIONS} were noticed");
    }
}

#[test]
fn damaged_maps_are_refused_or_answer() {
    let damaged = |seed: &u64| {
        let map = mutated(MAP.as_bytes(), *seed);
        check(MODELS[0].1, &String::from_utf8_lossy(&map), &format!("map, seed {seed}"))
    };
    let noticed = (0..MUTATIONS).filter(damaged).count() as u64;
    assert!((1..MUTATIONS).contains(&noticed), "{noticed} of {MUTATIONS} were noticed");
}

#[test]
fn damaged_tables_are_refused_with_a_place_or_decide() {
    let check = |seed: &u64| match tables::built(&mutated(tables::TABLE.as_bytes(), *seed)) {
        Err(error) => {
            let is_clear =
                error.problem.len() > 10 && (error.place.starts_with("line ") || error.problem.starts_with("no row"));
            assert!(is_clear, "seed {seed}: {error}");
            true
        }
        Ok(built) => {
            Validator::new().validate_all(&built.component).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let table = tables::table(&built);
            let (codes, reasons) = (table.requirements().count(), table.reasons().count() as i64);
            for value in [None, Some(0.0), Some(1.0), Some(2.0), Some(9_007_199_254_740_992.0)] {
                let required = table.decide(&vec![value; table.facts().count()]).expect("the table is whole");
                for (code, parameter) in required {
                    let is_reject = table.requirements().nth(code.into()) == Some("reject");
                    assert!(usize::from(code) < codes && (!is_reject || parameter < reasons), "seed {seed}");
                }
            }
            false
        }
    };
    let noticed = (0..MUTATIONS).filter(check).count() as u64;
    assert!((1..MUTATIONS).contains(&noticed), "{noticed} of {MUTATIONS} were noticed");
}
