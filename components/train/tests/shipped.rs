//! What is in the repository is what training gives: weights to the last bit, and golden cases. The
//! cards follow from the same rows; `make train` writes them all.

use std::fs;
use std::path::{Path, PathBuf};

use caudal_train::model::Model;
use caudal_train::pipeline::{SEED, Stream, TRAINING_ROWS};
use caudal_train::risk::fit::{RISK_1, RISK_2, Specification};
use caudal_train::{accessibility, golden, nudge, risk};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
fn is_shipped(model: Model, weights: &[u8], cases: &str) {
    let shipped = fs::read(model.weights(&root())).expect("the weights are there");
    assert!(shipped == weights, "{}: the weights are not what training gives; run `make train`", model.name());
    let shipped = fs::read_to_string(model.golden(&root())).expect("the cases are there");
    assert!(shipped == cases, "{}: the golden cases are not what training gives; run `make train`", model.name());
}

#[test]
fn risk_models_are_what_training_gives() {
    let rows = risk::generator::generate(TRAINING_ROWS, &mut Stream::Training.random(SEED));
    let each = |model: Model, specification: &Specification| {
        let weights = risk::fit::fit(specification, &rows).expect("settles");
        let cases = risk::golden::cases(specification.name, &weights, &mut Stream::Golden.random(SEED));
        is_shipped(model, &weights.to_file(), &golden::lines(&cases).expect("plain data"));
    };
    each(Model::Risk1, &RISK_1);
    each(Model::Risk2, &RISK_2);
}

#[test]
fn the_nudge_model_is_what_training_gives() {
    let rows = nudge::generator::generate(TRAINING_ROWS, &mut Stream::Training.random(SEED));
    let weights = nudge::fit::fit(&rows).expect("settles").weights;
    let cases = nudge::golden::cases(nudge::fit::NAME, &weights, &mut Stream::Golden.random(SEED));
    is_shipped(Model::Nudge1, &weights.to_file(), &golden::lines(&cases).expect("plain data"));
}

#[test]
fn the_accessibility_model_is_what_training_gives() {
    let rows = accessibility::generator::generate(TRAINING_ROWS, &mut Stream::Training.random(SEED));
    let weights = accessibility::fit::fit(&rows).expect("settles");
    let cases = accessibility::golden::cases(accessibility::fit::NAME, &weights, &mut Stream::Golden.random(SEED));
    is_shipped(Model::Accessibility1, &weights.to_file(), &golden::lines(&cases).expect("plain data"));
}
