//! The components and the fence around them: what the artefacts are, what loads, what a hostile
//! one can do, and that wasmtime computes the same bits as native code.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod artefacts;
mod built;
mod forged;
mod limits;
mod loading;
mod parity;
