//! Builds of models of all formats.

mod common;
mod libraries;
mod monotone;
mod mutations;
