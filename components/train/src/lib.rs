//! Trains Caudal's models: makes data, fits weights, measures them, writes weights, cards and golden
//! cases. Native, seeded, and byte for byte the same on every machine and at every optimisation level:
//! one thread, sums in order, `libm` instead of the platform's mathematics.
//!
//! | Module | Has |
//! | --- | --- |
//! | [`risk`], [`nudge`], [`accessibility`] | per kind: the process that makes data, the fit, the measures, the card |
//! | [`model`] | which models there are and where their files lie |
//! | [`pipeline`] | what `make train` does |
//! | [`commands`] | the command line |
//! | [`optimise`], [`metrics`], [`random`] | the mathematics that the kinds share |
//! | [`card`], [`plot`], [`golden`], [`data`] | what is written |
//!
//! Features come from `caudal_model`, the code that serves, so that a model cannot be trained on one
//! thing and asked another. Not for serving: nothing here runs in a component or in the host.
#![forbid(unsafe_code)]

pub mod accessibility;
pub mod age;
pub mod card;
pub mod commands;
pub mod data;
pub mod golden;
pub mod metrics;
pub mod model;
pub mod nudge;
pub mod optimise;
pub mod pipeline;
pub mod plot;
pub mod random;
pub mod risk;
