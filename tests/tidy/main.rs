//! The rules of the layout, read from the sources: who may import whom, where SQL, time, the environment and
//! unsafe code may be, how long files are, and what has to be documented.
//!
//! A rule is a function from sources to complaints, `path:line: what is wrong`. Each has a test with a text that
//! breaks it. Comments and the contents of strings do not count.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod contents;
mod cycles;
mod fences;
mod imports;
mod layers;
mod sizes;
mod source;
