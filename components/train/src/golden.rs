//! Golden cases: requests as a client sends them, and the bits that every runtime has to answer with.
//!
//! A line of JSON each: `{"case", "request", "expect"}`. In `expect`, numbers are the sixteen
//! hexadecimal digits of an IEEE 754 double, the sign's first, since a decimal may be read in more
//! than one way.

use serde::{Deserialize, Serialize};

/// One case.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case<R, E> {
    /// Unique within the file.
    pub case: String,
    /// The body of a request.
    pub request: R,
    /// What every runtime answers.
    pub expect: E,
}

/// The bits of a number as hexadecimal digits.
#[must_use]
pub fn bits(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

/// Cases as lines.
///
/// # Errors
/// None in practice: cases are plain data.
pub fn lines<R: Serialize, E: Serialize>(cases: &[Case<R, E>]) -> serde_json::Result<String> {
    let mut text = String::new();
    for case in cases {
        text += &serde_json::to_string(case)?;
        text.push('\n');
    }
    Ok(text)
}
