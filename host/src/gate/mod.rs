//! The gate: what a component must prove before it is registered.
//!
//! Compiling untrusted code can take unbounded time and memory, and cannot be cancelled. So
//! [`launcher`] starts this program again as a process with `limits`, which runs the
//! `examination` of the bytes on its standard input and writes a [`report`] to its standard output.
//! Whatever happens to it, the process that answers requests is unaffected. [`pushes`] examines and
//! registers what operators push.
//!
//! The gate does not decide what serves: a report says only that a component could.

mod cases;
pub(crate) mod examination;
mod faults;
pub mod launcher;
pub(crate) mod limits;
mod promises;
pub mod pushes;
mod registration;
pub mod report;
mod rules;
mod timing;

pub(crate) use registration::register;
