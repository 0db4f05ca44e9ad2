//! Makes a component of a trained model, without a compiler.
//!
//! [`build`] reads a model and a map, checks that the score moves with the facts as the catalogue says, and places the
//! result in the memory of the interpreter (`components/interpreter`).
//!
//! | Input | From |
//! | --- | --- |
//! | XGBoost JSON | `booster.save_model("model.json")`, XGBoost 1.7 to 3.2 |
//! | LightGBM text | `booster.save_model("model.txt")`, LightGBM 3 and 4 |
//! | ONNX | skl2onnx, onnxmltools: tree ensembles and linear models of `ai.onnx.ml` |
//! | `caudal-model-1` | JSON that Caudal's Python package writes for scikit-learn |
//! | a scorecard | CSV with the columns fact, from, points |
//!
//! A model's predictor is that of its library, to the last bit, for the first, second and fourth of these. ONNX specifies no
//! order of addition.
//!
//! [`build_rules`] makes transfer rules of a decision table in the same way, with the interpreter of tables
//! (`components/decision-table`).
#![forbid(unsafe_code)]

mod assemble;
mod error;
mod map;
mod monotone;
mod read;
mod table;

use caudal_ensemble::Ensemble;
pub use caudal_ensemble::Kind;

pub use error::{Error, File};
pub use map::{Direction, Fact, nearest};
pub use table::{RulesCatalogue, RulesFact, build_rules};

use error::Result;

/// Maximum size of a component. The host compares larger ones with other bounds, and copies a model's memory for each call.
pub const COMPONENT_BYTES_MAX: usize = 1 << 20;
/// Maximum size of a model file. JSON needs about ten times the bytes of a component.
pub const MODEL_BYTES_MAX: usize = 64 << 20;
/// Maximum size of a map: 128 features and 255 reasons need far less.
pub const MAP_BYTES_MAX: usize = 1 << 20;

/// A finished component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    pub component: Vec<u8>,
    pub summary: Summary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What the model file was recognised as.
    pub format: &'static str,
    pub features: usize,
    pub trees: usize,
    /// Splits and leaves, or the rows of a table.
    pub nodes: usize,
    /// Size of the model without the interpreter.
    pub bytes: usize,
}

/// Makes a component of a model and the map of its columns to facts.
///
/// # Errors
/// [`Error`]: the first defect, where it is, and what to do.
pub fn build(model: &[u8], map: &str, catalogue: &[Fact], interpreter: &[u8]) -> Result<Built> {
    let (ensemble, format, features) = ensemble(model, map, catalogue)?;
    let bytes = ensemble.write().map_err(|unfit| Error::model("", unfit.0))?;
    let component = assemble::assemble(interpreter, &bytes)?;
    let nodes = ensemble.trees.iter().map(Vec::len).sum();
    let summary = Summary { format, features, trees: ensemble.trees.len(), nodes, bytes: bytes.len() };
    if component.len() > COMPONENT_BYTES_MAX {
        return Err(Error::model(
            "",
            format!(
                "{} trees with {nodes} nodes make a component of {} bytes, and at most {COMPONENT_BYTES_MAX} are possible; \
                 train fewer or smaller trees",
                summary.trees,
                component.len()
            ),
        ));
    }
    Ok(Built { component, summary })
}

/// The checked model, the name of its format, and the number of its columns.
fn ensemble(model: &[u8], map: &str, catalogue: &[Fact]) -> Result<(Ensemble, &'static str, usize)> {
    if model.len() > MODEL_BYTES_MAX {
        return Err(Error::model("", format!("{} bytes, and at most {MODEL_BYTES_MAX} are possible", model.len())));
    }
    let (format, trained) = read::read(model)?;
    let columns = trained.columns;
    let mapped = map::map(trained, map, catalogue)?;
    monotone::check(&mapped.ensemble, &mapped.directions)?;
    Ok((mapped.ensemble, format, columns))
}
