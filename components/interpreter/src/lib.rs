//! The risk scorer for models that are data: converts between the WIT types and [`caudal_ensemble`].
//!
//! The component is complete only with a model in its memory, which `caudal-convert` places there; without one, each call
//! traps.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::vec::Vec;

use caudal_ensemble::Model;
use caudal_guest::{appended, text, trap};

use bindings::exports::caudal::risk::risk::{Assessment, Explanation, Fact, Guest, Kind, Manifest, Outcome};

caudal_guest::bindings!("../../wit/risk-2", "risk-scorer");

struct Component;

impl Guest for Component {
    fn describe() -> Manifest {
        let model = model();
        let kind = |kind| match kind {
            caudal_ensemble::Kind::Number => Kind::Number,
            caudal_ensemble::Kind::Integer => Kind::Integer,
            caudal_ensemble::Kind::Flag => Kind::Flag,
        };
        let fact =
            |(name, what, unit, required)| Fact { name: text(name), kind: kind(what), unit: text(unit), required };
        Manifest {
            version: text(model.version()),
            summary: text(model.summary()),
            facts: model.facts().map(fact).collect(),
            reasons: model.reasons().map(text).collect(),
            contributions: model.facts().map(|(name, ..)| text(name)).collect(),
        }
    }

    fn assess(values: Vec<Option<f64>>) -> Outcome {
        assess(&model(), &values)
    }

    fn assess_batch(rows: Vec<Vec<Option<f64>>>) -> Vec<Outcome> {
        let model = model();
        rows.iter().map(|values| assess(&model, values)).collect()
    }

    fn explain(values: Vec<Option<f64>>) -> Explanation {
        let explanation = model().explain(&values);
        Explanation { base: explanation.base, contributions: explanation.contributions }
    }
}

fn model() -> Model<'static> {
    Model::read(appended()).unwrap_or_else(|| trap())
}

fn assess(model: &Model<'_>, values: &[Option<f64>]) -> Outcome {
    match model.assess(values) {
        caudal_ensemble::Outcome::Scored { predictor, score, reasons } => {
            Outcome::Scored(Assessment { predictor, score, reasons })
        }
        caudal_ensemble::Outcome::Abstained(reason) => Outcome::Abstained(reason),
    }
}
