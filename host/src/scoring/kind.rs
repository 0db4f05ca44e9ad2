//! What every kind of scorer has.

use crate::domain::model::ModelVersion;
use crate::http::fields::Fields;

/// Longest user or session identifier.
const ID_CHARS_MAX: usize = 255;

/// An answer and the version that gave it.
#[derive(Debug, Clone)]
pub struct Scored<T> {
    pub assessment: T,
    pub version: ModelVersion,
}

/// Reads an identifier that is echoed: `user_id`, or `session_id` where there is one.
pub(crate) fn read_id(fields: &mut Fields, field: &str) -> Option<String> {
    fields.optional_text(field, ID_CHARS_MAX)
}
