//! Trains Caudal's models: generates data, fits and evaluates weights, and writes weights, cards and
//! golden cases. Seeded and byte-for-byte reproducible on every machine and at every optimisation level:
//! one thread, sums in a fixed order, `libm` instead of the platform's mathematics.
//!
//! | Module | |
//! | --- | --- |
//! | [`risk`], [`nudge`], [`accessibility`] | one for each kind: data generator, fit, evaluation, card, golden cases |
//! | [`model`] | the models, and where their files are |
//! | [`pipeline`] | `make train` |
//! | [`metrics`], [`random`] and the private `optimise` | the mathematics |
//! | [`data`], [`golden`] and the private `card`, `plot` | files |
//!
//! Features are computed by `caudal_model`, which also serves, so that a model sees in production what it
//! was trained on.
#![forbid(unsafe_code)]

pub mod accessibility;
pub mod age;
mod card;
pub mod data;
pub mod golden;
pub mod metrics;
pub mod model;
pub mod nudge;
mod optimise;
pub mod pipeline;
mod plot;
pub mod random;
pub mod risk;
