//! Readers of model files.

use caudal_ensemble::{FACTS_MAX, Link, Node, Precision, Tree};

use crate::error::{Error, Result};

mod json;
mod lightgbm;
mod onnx;
mod portable;
mod scorecard;
mod xgboost;

/// Maximum depth of a tree. A deeper one would take more time than a call has, and more stack than the checks have.
const DEPTH_MAX: usize = 512;

/// A model as it was trained: facts are its columns.
#[derive(Clone, Debug)]
pub(crate) struct Trained {
    /// Empty if the file has no names.
    pub(crate) names: Vec<String>,
    pub(crate) columns: usize,
    /// The file does not say whether there are columns after the last that is used.
    pub(crate) has_more_columns: bool,
    pub(crate) inputs: Precision,
    pub(crate) sum: Precision,
    pub(crate) base: f64,
    pub(crate) divisor: f64,
    pub(crate) link: Link,
    pub(crate) trees: Vec<Tree>,
    pub(crate) linear: Vec<f64>,
    /// Columns in which zero is a missing value; empty if there are none.
    pub(crate) zero_is_missing: Vec<bool>,
    /// Columns without which the library does not score; empty if there are none.
    pub(crate) needed: Vec<bool>,
}

impl Default for Trained {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            columns: 0,
            has_more_columns: false,
            inputs: Precision::F64,
            sum: Precision::F64,
            base: 0.0,
            divisor: 1.0,
            link: Link::Logistic,
            trees: Vec::new(),
            linear: Vec::new(),
            zero_is_missing: Vec::new(),
            needed: Vec::new(),
        }
    }
}

/// Recognises and reads a model. Returns the name of its format as well.
pub(crate) fn read(model: &[u8]) -> Result<(&'static str, Trained)> {
    let text = std::str::from_utf8(model).ok().map(|text| text.trim_start_matches('\u{feff}'));
    let (format, mut trained) = match text {
        Some(text) if text.trim_start().starts_with('{') => json::read(text)?,
        Some(text) if text.lines().next() == Some(lightgbm::FIRST) => ("LightGBM", lightgbm::read(text)?),
        Some(text) if scorecard::is_scorecard(text) => ("scorecard", scorecard::read(text)?),
        _ => ("ONNX", onnx::read(model).unwrap_or_else(|| Err(unknown()))?),
    };
    check_columns(trained.columns)?;
    trained.base = trained.sum.round(trained.base);
    Ok((format, trained))
}

fn check_columns(columns: usize) -> Result<()> {
    if (1..=FACTS_MAX).contains(&columns) {
        return Ok(());
    }
    Err(Error::model("", format!("{columns} columns, and 1 to {FACTS_MAX} are possible; train with fewer")))
}

fn unknown() -> Error {
    Error::model(
        "",
        "the format is not known; give XGBoost JSON (save_model(\"model.json\"), not .ubj), LightGBM text \
         (save_model(\"model.txt\")), ONNX, caudal-model-1 JSON, or a scorecard in CSV with the columns fact,from,points",
    )
}

/// A node that refers to others by position.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw {
    /// A value up to the threshold goes left.
    Split {
        column: usize,
        threshold: f64,
        missing_left: bool,
        left: usize,
        right: usize,
    },
    Leaf {
        value: f64,
        cover: f64,
    },
}

impl Trained {
    /// Adds the tree whose root is the first of `nodes`; `place` is where they are in the file.
    pub(crate) fn push(&mut self, nodes: &[Raw], place: &str) -> Result<()> {
        let mut tree = Vec::with_capacity(nodes.len());
        let mut open = vec![(0, 0)];
        while let Some((at, depth)) = open.pop() {
            if depth > DEPTH_MAX {
                return Err(Error::model(
                    place,
                    format!("more than {DEPTH_MAX} splits on one path; train shallower trees"),
                ));
            }
            let node = *nodes.get(at).ok_or_else(|| Error::model(place, format!("there is no node {at}")))?;
            if tree.len() == nodes.len() {
                return Err(Error::model(place, "a node has two parents"));
            }
            tree.push(match node {
                Raw::Leaf { value, cover } => Node::Leaf { value: self.sum.round(value), cover },
                Raw::Split { column, threshold, missing_left, left, right } => {
                    if column >= self.columns.min(FACTS_MAX) {
                        let problem = format!("node {at} tests column {column}, and there are {}", self.columns);
                        return Err(Error::model(place, problem));
                    }
                    open.extend([(right, depth + 1), (left, depth + 1)]);
                    // An infinite threshold parts missing values from all others, which are finite.
                    let threshold = threshold.clamp(f64::MIN, f64::MAX);
                    let threshold = if self.inputs == Precision::F32 { floor(threshold) } else { threshold };
                    Node::Split { fact: column as u8, threshold, missing_left }
                }
            });
        }
        self.trees.push(tree);
        Ok(())
    }
}

/// The largest `f32` up to a threshold: no `f32` is between the two, so the comparisons are the same.
fn floor(threshold: f64) -> f64 {
    let near = threshold as f32;
    f64::from(if f64::from(near) > threshold { near.next_down() } else { near })
}

/// The threshold `t` for which `x <= t` says what `x < bound` says.
pub(crate) fn below(bound: f64, inputs: Precision) -> f64 {
    match inputs {
        Precision::F32 if f64::from(bound as f32) == bound => (bound as f32).next_down().into(),
        // No input is strictly between the largest `f32` below the bound and the bound.
        Precision::F32 => floor(bound),
        Precision::F64 => bound.next_down(),
    }
}
