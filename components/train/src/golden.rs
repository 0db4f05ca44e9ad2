//! Golden cases: requests as a client sends them, and the answers that every runtime must reproduce to
//! the bit.
//!
//! One JSON object per line: `{"case", "request", "expect"}`. In `expect`, a number is the sixteen
//! hexadecimal digits of an IEEE 754 double, most significant first, since decimals can be parsed in
//! more than one way.

use serde::{Deserialize, Serialize};

/// One case.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case<R, E> {
    /// Unique within the file.
    pub case: String,
    /// The body of an HTTP request.
    pub request: R,
    pub expect: E,
}

/// The bits of a number in hexadecimal.
#[must_use]
pub fn bits(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

/// Cases in the format of their file.
pub(crate) fn lines<R: Serialize, E: Serialize>(cases: &[Case<R, E>]) -> serde_json::Result<String> {
    let mut text = String::new();
    for case in cases {
        // Clients omit a fact that they do not know.
        text += &serde_json::to_string(case)?.replace(r#","beneficiary_saved_minutes":null"#, "");
        text.push('\n');
    }
    Ok(text)
}
