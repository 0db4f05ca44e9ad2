//! The scoring logic of Caudal's components as pure functions: facts in, a verdict with its reasons out.
//!
//! | Module | |
//! | --- | --- |
//! | [`risk`] | how risky a transfer is, and why |
//! | [`nudge`] | whether a person is struggling on a screen |
//! | [`accessibility`] | which accessibility profile to recommend |
//! | [`rules`] | whether the bank's policy permits a transfer |
//! | [`curve`] | the logarithm and the logistic function shared by the scorers |
//! | [`weights`] | the file format of a trained model's coefficients |
//!
//! Serving and training call the same functions, so a feature cannot mean two things. There are no
//! WIT types here (the component crates convert), and no files, clocks, randomness or network access:
//! the same facts give the same bits on every machine.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod accessibility;
pub mod curve;
pub mod nudge;
pub mod risk;
pub mod rules;
pub mod weights;

/// Rejects a request because a fact is outside its documented range.
///
/// The host checks ranges before it calls a component, so this is a last line of defence, not the
/// validation of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Name of the field in the HTTP API, for example `hour_of_day`.
    pub field: &'static str,
    /// Machine-readable; so far always `out-of-range`.
    pub code: &'static str,
    /// One English sentence.
    pub detail: &'static str,
}

impl Invalid {
    pub(crate) const fn out_of_range(field: &'static str, detail: &'static str) -> Self {
        Self { field, code: "out-of-range", detail }
    }
}
