//! The components and their sandbox: what the artefacts are, what loads, what a hostile
//! one can do, that wasmtime computes the same bits as native code, and that risk keeps its order.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod artefacts;
mod built;
mod cache;
mod confinement;
mod contract_2;
mod engine;
#[path = "../fixtures.rs"]
mod fixtures;
mod forged;
mod frozen;
mod gate;
mod golden;
mod javascript;
mod limits;
mod loading;
mod models;
mod monotone;
mod pages;
mod parity;
mod tables;
mod what_if;
