//! A trained tree ensemble or linear model as bytes that are evaluated in place; so is a [`table`] of rules.
//!
//! Each call of a component is a fresh instance, so a model that had to be parsed would be parsed for each call.
//! [`Model::read`] therefore looks at the header alone, and [`Model::assess`] and [`Model::explain`] walk the bytes.
//! [`Ensemble::write`] makes them.
//!
//! | Bytes | Content |
//! | --- | --- |
//! | 8, 2 | magic, `CDLTREES`; format, 1 |
//! | 1 | [`flags`]: precision of inputs and sums, link, required facts, width of a count, linear terms |
//! | 1, 1, 1 | number of facts, of reasons, of conditions |
//! | 2, 2, 4 | number of calibration points, of trees, of splits in all trees |
//! | 1, 1 | length of the version, of the summary |
//! | 8, 8 | base; divisor |
//! | 3 each | fact: kind and flags, length of the name, length of the unit |
//! | 1 each | length of a reason |
//! | | texts: version, summary, name and unit of each fact, reasons |
//! | 11 each | condition: reason, fact, 1 for at least or 0 for at most, bound |
//! | 16 each | calibration point: predictor, score |
//! | 8 each | linear coefficient of each fact, if the model has linear terms |
//! | 2 each | number of splits of a tree |
//! | 6 to 11 each | split: threshold, feature and direction of a missing value, number of splits on the left |
//! | 4 or 8 each | value of a leaf |
//! | 4 each | cover of a leaf: how much of the training data reached it |
//!
//! Splits and leaves of a tree are in preorder, without pointers. In a binary tree, a part with `n` splits has `n + 1`
//! leaves, so the number of splits on the left is all one needs to skip that side in both arrays, and a part without
//! splits is a leaf. A threshold is as precise as the inputs, and a value as the sums. Covers are those of leaves, since
//! a split's is their sum, and have 4 bytes: 2 would move explanations away from those of the training library.
//!
//! All numbers are little-endian, and a bit pattern of any kind is read safely: malformed bytes give a wrong answer, never
//! a panic.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;
mod explain;
pub mod flags;
mod predict;
pub mod table;
mod write;

pub use bytes::{Facts, Model};
pub use explain::Explanation;
pub use predict::Outcome;
pub use write::{Condition, Ensemble, Fact, Node, Tree, Unfit};

/// Maximum number of facts: seven bits of a split hold the fact, the eighth the direction of a missing value.
pub const FACTS_MAX: usize = 128;
/// Maximum number of splits of a tree, and of trees: both have 16 bits.
pub const SPLITS_MAX: usize = 0xffff;
/// Maximum number of different facts on one path through a tree. Up to here, explanations are exact.
pub const PATH_FACTS_MAX: usize = 32;
/// Maximum magnitude of a leaf, a coefficient, the base: 65,535 trees of it stay finite, in `f32` too.
pub const VALUE_MAX: f64 = 1e12;
/// What a linear term makes of a larger number, which keeps it finite. Counts and amounts saturate here as well.
pub const LINEAR_INPUT_MAX: f64 = 9_007_199_254_740_992.0;
/// Reason of an answer without a score.
pub const MISSING_FACT: &str = "MISSING_FACT";

/// What the values of a fact are, as in the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    Integer,
    Flag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    F32,
    F64,
}

/// Makes a score of a predictor.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// The logistic function.
    Logistic,
    /// The predictor itself, limited to 0..1.
    Identity,
    /// Straight lines between points of predictor and score.
    Points(alloc::vec::Vec<(f64, f64)>),
}
