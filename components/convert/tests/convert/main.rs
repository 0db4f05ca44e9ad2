//! Builds of models of all formats.

mod common;
mod errors;
mod libraries;
mod monotone;
mod mutations;
mod tables;
