//! Reads JSON objects, and objects only: serde would also take an array for a struct, by the order of the fields.

use serde::Deserialize;
use serde::de::Error as _;

pub(super) fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> serde_json::Result<T> {
    match json.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(json),
        // Malformed, or anything else.
        _ => Err(serde_json::Error::custom("this is not a JSON object")),
    }
}
