//! What every kind of scorer has.

use crate::domain::model::ModelVersion;
use crate::schema::{Field, Fields, Read, Value};

/// Longest user or session identifier.
pub(crate) const ID_CHARS_MAX: usize = 255;

/// An answer and the version that gave it.
#[derive(Debug, Clone)]
pub struct Scored<T> {
    pub assessment: T,
    pub version: ModelVersion,
}

/// Reads an identifier that is echoed: `user_id`, or `session_id` where there is one.
pub(crate) fn read_id(fields: &mut Fields, field: &'static str) -> Option<String> {
    let field = Field::new(field, "", <Option<String> as Value>::SHAPE, false).chars_max(ID_CHARS_MAX);
    <Option<String> as Read>::take(fields, &field)
}
