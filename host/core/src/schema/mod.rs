//! Declarations of what goes over the wire: each field of a request or an answer is declared once, with its
//! type, bounds, unit, meaning and example.
//!
//! The macro `request!` declares what is read, `answer!` what is written and `record!` what is both; `record.rs` shows
//! how. The same declaration gives a reader that reports all faults at once ([`Fields`]), JSON, the OpenAPI
//! documents, the types of the npm package (`typescript.rs`) and the data by which it checks requests
//! (`javascript.rs`).

mod field;
mod fields;
pub(crate) mod javascript;
mod literal;
mod object;
mod record;
mod spelling;
pub mod text;
pub mod typescript;
mod value;

pub use crate::{answer, record, request};
pub use field::{Alias, Declaration, Field, Record, Shape, TextForm};
pub use fields::{Columns, FieldError, Fields, FromFields, Invalid, parse};
pub use literal::parse_uuid;
pub use literal::{Fault, Literal};
pub use object::ObjectError;
pub use record::ToFields;
pub use serde::{Deserialize, Serializer};
pub(crate) use value::write_number;
pub use value::{Flat, Read, Value, Write, Written};

/// Used by the macros.
pub mod names {
    pub use super::spelling::{camel, camel_length};
}

#[cfg(test)]
mod tests;
