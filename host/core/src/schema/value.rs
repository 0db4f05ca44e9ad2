//! How each Rust type is read, written and described.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::{SerializeMap as _, SerializeSeq as _, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime, UtcOffset};
use uuid::Uuid;

use crate::clock::timestamp;

use super::field::{Field, Record, Shape, TextForm};
use super::fields::{Fields, FromFields};
use super::literal::{Fault, Literal, parse_uuid, read_boolean, read_integer, read_items, read_number, read_text};
use super::record::ToFields;

/// A type that a field can have.
pub trait Value {
    const SHAPE: Shape;
    const REQUIRED: bool = true;
}

/// A value of a request.
pub trait Read: Value + Sized {
    /// Reads a value that is there, within the bounds of `shape`.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read(literal: Literal<'_>, shape: &Shape) -> Result<Self, Fault>;

    /// Takes the place of a value that was refused, or that may be left out.
    fn placeholder() -> Self;

    /// Reads a field.
    fn take(fields: &mut Fields, field: &Field) -> Self {
        fields.check_presence(field);
        fields.optional(field, |literal| Self::read(literal, &field.shape)).unwrap_or_else(Self::placeholder)
    }
}

/// A value of an answer.
pub trait Write: Value {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Writes a field.
    fn put<S: SerializeStruct>(&self, to: &mut S, field: &Field) -> Result<(), S::Error> {
        to.serialize_field(field.name, &Written(self))
    }
}

/// Adapts a value to serde.
pub struct Written<'a, T: ?Sized>(pub &'a T);

impl<T: Write + ?Sized> Serialize for Written<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

macro_rules! writes_as_serde {
    ($($type:ty: $shape:expr),* $(,)?) => {$(
        impl Value for $type {
            const SHAPE: Shape = $shape;
        }

        impl Write for $type {
            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.serialize(serializer)
            }
        }
    )*};
}

const COUNT: Shape = Shape::Integer { at_least: Some(0), at_most: None };
const INTEGER: Shape = Shape::Integer { at_least: None, at_most: None };
const TEXT: Shape = Shape::Text { chars_max: None, form: TextForm::NotBlank };

writes_as_serde! {
    bool: Shape::Boolean,
    f64: Shape::Number { at_least: None, at_most: None },
    u8: Shape::Integer { at_least: Some(0), at_most: Some(u8::MAX as i64) },
    u32: COUNT,
    usize: COUNT,
    i16: INTEGER,
    i64: INTEGER,
    String: TEXT,
    &'static str: TEXT,
    Cow<'static, str>: TEXT,
    Uuid: Shape::Text { chars_max: None, form: TextForm::Uuid },
    serde_json::Value: Shape::Any,
    Box<RawValue>: Shape::Any,
}

impl Read for bool {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        read_boolean(literal)
    }

    fn placeholder() -> Self {
        false
    }
}

impl Read for f64 {
    fn read(literal: Literal<'_>, shape: &Shape) -> Result<Self, Fault> {
        let Shape::Number { at_least, at_most } = *shape else { return read_number(literal, None, None) };
        read_number(literal, at_least, at_most)
    }

    fn placeholder() -> Self {
        0.0
    }
}

impl Read for u32 {
    fn read(literal: Literal<'_>, shape: &Shape) -> Result<Self, Fault> {
        let Shape::Integer { at_least, at_most } = *shape else { return read_integer(literal, None, None) };
        read_integer(literal, at_least, at_most)
    }

    fn placeholder() -> Self {
        0
    }
}

impl Read for i64 {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        literal.text().parse().map_err(|_| Fault::new("wrong-type", "must be an integer"))
    }

    fn placeholder() -> Self {
        0
    }
}

impl Read for u8 {
    fn read(literal: Literal<'_>, shape: &Shape) -> Result<Self, Fault> {
        u32::read(literal, shape).map(|number| Self::try_from(number).unwrap_or(Self::MAX))
    }

    fn placeholder() -> Self {
        0
    }
}

impl Read for String {
    fn read(literal: Literal<'_>, shape: &Shape) -> Result<Self, Fault> {
        let Shape::Text { chars_max, form } = *shape else {
            return read_text(literal, None, TextForm::Any).map(Into::into);
        };
        read_text(literal, chars_max, form).map(Into::into)
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

impl Read for Uuid {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        let parsed = literal.string().and_then(|text| parse_uuid(&text));
        parsed.ok_or(Fault::new("wrong-type", "must be a UUID as a string"))
    }

    fn placeholder() -> Self {
        Self::nil()
    }
}

/// Any JSON, whose meaning another layer knows.
impl Read for serde_json::Value {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        serde_json::from_str(literal.text()).map_err(|_| Fault::new("wrong-type", "is nested too deeply"))
    }

    fn placeholder() -> Self {
        Self::Null
    }
}

/// An instant of the years 1970 to 9999.
impl Value for OffsetDateTime {
    const SHAPE: Shape = Shape::Text { chars_max: None, form: TextForm::Instant };
}

impl Read for OffsetDateTime {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        let read = literal.string().and_then(|text| Self::parse(&text, &Rfc3339).ok());
        let known = read.filter(|at| at.unix_timestamp() >= 0 && at.to_offset(UtcOffset::UTC).year() <= 9999);
        known.ok_or(Fault::new("unknown-value", "must be a timestamp such as 2026-11-21T18:00:00Z"))
    }

    fn placeholder() -> Self {
        Self::UNIX_EPOCH
    }
}

impl Write for OffsetDateTime {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&timestamp(*self))
    }
}

/// How days are written: four digits of the year, so that the years are 0 to 9999.
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// A day of the years 1970 to 9999.
impl Value for Date {
    const SHAPE: Shape = Shape::Text { chars_max: None, form: TextForm::Date };
}

impl Read for Date {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        let read = literal.string().filter(|text| text.len() == 10).and_then(|text| Self::parse(&text, DAY).ok());
        let known = read.filter(|day| (1970..=9999).contains(&day.year()));
        known.ok_or(Fault::new("unknown-value", "must be a date such as 2026-11-21"))
    }

    fn placeholder() -> Self {
        OffsetDateTime::UNIX_EPOCH.date()
    }
}

impl Write for Date {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.format(DAY).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

impl<T: Value> Value for Option<T> {
    /// A text that may be left out may also be blank.
    const SHAPE: Shape = match T::SHAPE {
        Shape::Text { chars_max, form: TextForm::NotBlank } => Shape::Text { chars_max, form: TextForm::Any },
        shape => shape,
    };
    const REQUIRED: bool = false;
}

impl<T: Read> Read for Option<T> {
    fn read(literal: Literal<'_>, shape: &Shape) -> Result<Self, Fault> {
        T::read(literal, shape).map(Some)
    }

    fn placeholder() -> Self {
        None
    }

    fn take(fields: &mut Fields, field: &Field) -> Self {
        fields.is_present(field).then(|| T::take(fields, field))
    }
}

impl<T: Write> Write for Option<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(serializer),
            None => serializer.serialize_none(),
        }
    }

    fn put<S: SerializeStruct>(&self, to: &mut S, field: &Field) -> Result<(), S::Error> {
        match self {
            Some(value) => value.put(to, field),
            None if field.nullable => to.serialize_field(field.name, &()),
            None => to.skip_field(field.name),
        }
    }
}

impl<T: Value> Value for Vec<T> {
    const SHAPE: Shape = Shape::Array { items: &T::SHAPE, length_min: 0, length_max: None };
}

macro_rules! reads_lists_of {
    ($($item:ty),+) => {$(
        /// Its first fault counts as one of the list.
        impl Read for Vec<$item> {
            fn read(literal: Literal<'_>, shape: &Shape) -> Result<Self, Fault> {
                let Shape::Array { items: each, .. } = *shape else { return Ok(Self::new()) };
                let items = read_items(literal, shape)?;
                items.into_iter().map(|item| <$item>::read(Literal::Json(item), each)).collect()
            }

            fn placeholder() -> Self {
                Self::new()
            }
        }
    )+};
}

reads_lists_of!(String, u8, f64);

/// A list of objects. Faults name the item.
impl<T: FromFields + Value> Read for Vec<T> {
    fn read(_: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        Ok(Self::new())
    }

    fn placeholder() -> Self {
        Self::new()
    }

    fn take(fields: &mut Fields, field: &Field) -> Self {
        fields.objects(field)
    }
}

impl<T: Write> Write for Vec<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for item in self {
            list.serialize_element(&Written(item))?;
        }
        list.end()
    }
}

impl Value for &'static [&'static str] {
    const SHAPE: Shape = Shape::Array { items: &<&'static str>::SHAPE, length_min: 0, length_max: None };
}

impl Write for &'static [&'static str] {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }
}

impl<K, T: Value> Value for BTreeMap<K, T> {
    const SHAPE: Shape = Shape::Map(&T::SHAPE);
}

impl<K: Serialize, T: Write> Write for BTreeMap<K, T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self {
            map.serialize_entry(name, &Written(value))?;
        }
        map.end()
    }
}

/// A record whose fields are inlined into the enclosing record.
#[derive(Debug, Clone, PartialEq)]
pub struct Flat<T>(pub T);

impl<T: Record> Value for Flat<T> {
    const SHAPE: Shape = Shape::Flat(&T::DECLARATION);
}

impl<T: FromFields> Read for Flat<T> {
    fn read(_: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        Ok(Self::placeholder())
    }

    fn placeholder() -> Self {
        Self(T::from_fields(&mut Fields::from_query([("", ""); 0])))
    }

    fn take(fields: &mut Fields, _: &Field) -> Self {
        Self(fields.read())
    }
}

impl<T: ToFields> Write for Flat<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_json(serializer)
    }

    fn put<S: SerializeStruct>(&self, to: &mut S, _: &Field) -> Result<(), S::Error> {
        self.0.to_fields(to)
    }
}

/// Writes a number with exactly the digits of `text`.
pub(crate) fn write_number<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
}
