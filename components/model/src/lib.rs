//! The pure scoring logic of Caudal's components: facts in, a verdict with its reasons out.
//!
//! | Module | Decides |
//! | --- | --- |
//! | [`risk`] | how risky a transfer is, and why |
//! | [`nudge`] | whether a person is struggling on a screen |
//! | [`accessibility`] | which accessibility profile to recommend |
//! | [`rules`] | whether the bank's policy lets a transfer go on |
//! | [`curve`] | the logarithm and the logistic curve that the scorers share |
//! | [`weights`] | the file that carries a trained model's numbers |
//!
//! Serving and training call the same functions, so a feature cannot mean two things. This crate is
//! not for WIT types (the glue crates convert), nor for files, clocks, randomness or the network:
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

/// A request that a scorer refuses, because a fact is outside its documented range.
///
/// A host checks ranges before it calls, so this is a last line and not the validation of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The offending field in the spelling of the HTTP API, for example `hour_of_day`.
    pub field: &'static str,
    /// Machine-readable; `out-of-range` for every refusal so far.
    pub code: &'static str,
    /// One English sentence for people.
    pub detail: &'static str,
}

impl Invalid {
    /// A fact outside its range.
    pub(crate) const fn out_of_range(field: &'static str, detail: &'static str) -> Self {
        Self { field, code: "out-of-range", detail }
    }
}
