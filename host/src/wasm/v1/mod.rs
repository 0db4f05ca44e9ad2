//! WIT major version 1: bindings and conversions.

mod bindings;
mod convert;
pub(crate) mod scorers;
