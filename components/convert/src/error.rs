//! Why a component could not be made.

use std::fmt;

/// Where an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    Model,
    Map,
    Interpreter,
}

/// Why a component could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub file: File,
    /// A line and column, or the path of a value; empty for the whole file.
    pub place: String,
    /// What is wrong, and what to do.
    pub problem: String,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn model(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: File::Model, place: place.into(), problem: problem.into() }
    }

    pub(crate) fn map(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: File::Map, place: place.into(), problem: problem.into() }
    }

    pub(crate) fn interpreter(problem: impl fmt::Display) -> Self {
        Self { file: File::Interpreter, place: String::new(), problem: format!("not the interpreter: {problem}") }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match self.file {
            File::Model => "model",
            File::Map => "map",
            File::Interpreter => "interpreter",
        };
        let space = if self.place.is_empty() { "" } else { ", " };
        write!(f, "{file}{space}{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for Error {}
