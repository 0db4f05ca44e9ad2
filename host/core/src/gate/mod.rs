//! The gate: the checks that a component must pass before it is registered.
//!
//! Compiling untrusted code can take unbounded time and memory, and cannot be cancelled. So
//! [`launcher`] starts this program again as a process with `limits`, which [`confinement`] keeps from everything else. It runs the `examination` of the bytes on its
//! standard input and writes a [`report`] to its standard output.
//! Whatever happens to it, the process that answers requests is unaffected. [`pushes`] examines and
//! registers what operators push.
//!
//! Passing the gate does not put a component into service.

mod cases;
pub mod confinement;
pub mod examination;
mod explanations;
mod faults;
mod fuel;
mod invariants;
pub mod launcher;
pub mod limits;
mod nans;
pub mod pushes;
mod registration;
pub mod report;
mod rules;
mod timing;
