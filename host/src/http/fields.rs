//! Reads the fields of a JSON object or of a query string, and collects everything that is wrong.
//!
//! A reading function that meets a fault notes it and gives a placeholder; [`Fields::finish`] then
//! refuses the request with all the notes, so no placeholder is ever used. Unknown fields are
//! ignored, `null` counts as absent, `3.0` is an integer, larger counts saturate.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};
use uuid::Uuid;

use crate::domain::money::Money;
use crate::http::error::{Error, INVALID_AMOUNT};
use crate::http::problem::FieldError;

/// A JSON object with the text of each value as it came: numbers are not rounded on the way.
pub struct Object(BTreeMap<String, Box<RawValue>>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Two values for one name mean different things to different readers.
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("a field appears twice"));
                    }
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

enum Value {
    Json(Box<RawValue>),
    Text(String),
}

impl Value {
    /// What stands there, for numbers and booleans.
    fn literal(&self) -> &str {
        match self {
            Self::Json(raw) => raw.get(),
            Self::Text(text) => text,
        }
    }

    /// The string, if it is one; every query parameter is.
    fn string(&self) -> Option<String> {
        match self {
            Self::Json(raw) => serde_json::from_str(raw.get()).ok(),
            Self::Text(text) => Some(text.clone()),
        }
    }
}

/// The fields of one request.
pub struct Fields {
    values: BTreeMap<String, Value>,
    errors: Vec<FieldError>,
    status: StatusCode,
}

impl Fields {
    /// From a JSON object; faults are answered with `status`.
    pub fn from_object(object: Object, status: StatusCode) -> Self {
        let present = object.0.into_iter().filter(|(_, value)| value.get() != "null");
        let values = present.map(|(name, value)| (name, Value::Json(value))).collect();
        Self { values, errors: Vec::new(), status }
    }

    /// From a row of a file of requests to score; faults are read with [`Self::into_faults`].
    pub fn from_row(object: Object) -> Self {
        Self::from_object(object, StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// From the parameters of a query string. One that is there twice is refused.
    pub fn from_query(query: Vec<(String, String)>) -> Self {
        let mut fields = Self { values: BTreeMap::new(), errors: Vec::new(), status: StatusCode::BAD_REQUEST };
        for (name, value) in query {
            if fields.values.insert(name.clone(), Value::Text(value)).is_some() {
                fields.refuse(&name, "conflict", "is there twice");
            }
        }
        fields
    }

    /// Refuses the request if anything was wrong.
    ///
    /// # Errors
    /// All that was noted.
    pub fn finish(self) -> Result<(), Error> {
        if self.errors.is_empty() { Ok(()) } else { Err(Error::validation(self.status, self.errors)) }
    }

    /// All that was noted, for a caller that answers in another way.
    pub fn into_faults(self) -> Vec<FieldError> {
        self.errors
    }

    /// Notes a fault.
    pub fn refuse(&mut self, field: &str, code: &'static str, detail: impl Into<String>) {
        self.errors.push(FieldError { field: field.to_owned(), code: code.into(), detail: detail.into() });
    }

    /// Whether the field is there and not null.
    pub fn has(&self, field: &str) -> bool {
        self.values.contains_key(field)
    }

    /// Reads a field that may be missing.
    fn optional<T>(
        &mut self,
        field: &str,
        read: impl FnOnce(&Value) -> Result<T, (&'static str, String)>,
    ) -> Option<T> {
        match read(self.values.get(field)?) {
            Ok(value) => Some(value),
            Err((code, detail)) => {
                self.refuse(field, code, detail);
                None
            }
        }
    }

    /// Reads a field that has to be there.
    fn required<T: Default>(
        &mut self,
        field: &str,
        read: impl FnOnce(&Value) -> Result<T, (&'static str, String)>,
    ) -> T {
        if !self.has(field) {
            self.refuse(field, "required", "is required");
        }
        self.optional(field, read).unwrap_or_default()
    }

    /// A string of 1 to `chars_max` characters that is not blank.
    pub fn text(&mut self, field: &str, chars_max: usize) -> String {
        self.required(field, |value| read_text(value, chars_max, true))
    }

    /// An account number: a string of 1 to `chars_max` characters with a letter or digit in it.
    pub fn account_number(&mut self, field: &str, chars_max: usize) -> String {
        let number = self.text(field, chars_max);
        if !number.trim().is_empty() && !number.contains(char::is_alphanumeric) {
            self.refuse(field, "blank", "must have a letter or digit");
        }
        number
    }

    /// A string of up to `chars_max` characters.
    pub fn optional_text(&mut self, field: &str, chars_max: usize) -> Option<String> {
        self.optional(field, |value| read_text(value, chars_max, false))
    }

    /// A UUID in its usual spelling.
    pub fn uuid(&mut self, field: &str) -> Uuid {
        self.required(field, |value| {
            let parsed = value.string().and_then(|text| parse_uuid(&text));
            parsed.ok_or(("wrong-type", "must be a string with a UUID".to_owned()))
        })
    }

    /// An amount of money to send.
    pub fn amount(&mut self, field: &str) -> Money {
        self.required(field, |value| {
            Money::parse_amount(value.literal()).map_err(|error| (INVALID_AMOUNT, error.to_string()))
        })
    }

    /// A boolean.
    pub fn boolean(&mut self, field: &str) -> bool {
        self.required(field, read_boolean)
    }

    /// A boolean that may be missing.
    pub fn optional_boolean(&mut self, field: &str) -> Option<bool> {
        self.optional(field, read_boolean)
    }

    /// A finite number >= 0: money for a scorer.
    pub fn non_negative(&mut self, field: &str) -> f64 {
        self.required(field, |value| read_number(value).and_then(|number| check_range(number, 0.0, f64::MAX)))
    }

    /// A number from `min` to `max`.
    pub fn number(&mut self, field: &str, min: f64, max: f64) -> f64 {
        self.required(field, |value| read_number(value).and_then(|number| check_range(number, min, max)))
    }

    /// An integer >= `min`; larger ones than `u32::MAX` count as that.
    pub fn count(&mut self, field: &str, min: u32) -> u32 {
        self.required(field, |value| read_integer(value, min, None))
    }

    /// A count that may be missing.
    pub fn optional_count(&mut self, field: &str) -> Option<u32> {
        self.optional(field, |value| read_integer(value, 0, None))
    }

    /// An integer from 0 to `max`.
    pub fn integer_up_to(&mut self, field: &str, max: u8) -> u8 {
        let read = self.required(field, |value| read_integer(value, 0, Some(u32::from(max))));
        u8::try_from(read).unwrap_or(max)
    }

    /// An integer from `min` to `max` that may be missing.
    pub fn optional_integer(&mut self, field: &str, min: u32, max: u32) -> Option<u32> {
        self.optional(field, |value| read_integer(value, min, Some(max)))
    }

    /// An instant of the years 1970 to 9999, in RFC 3339, that may be missing.
    pub fn optional_instant(&mut self, field: &str) -> Option<OffsetDateTime> {
        self.optional(field, |value| {
            let read = value.string().and_then(|text| OffsetDateTime::parse(&text, &Rfc3339).ok());
            let known = read.filter(|at| at.unix_timestamp() >= 0 && at.to_offset(UtcOffset::UTC).year() <= 9999);
            known.ok_or(("unknown-value", "must be an instant like 2026-11-21T18:00:00Z".to_owned()))
        })
    }

    /// An object that may be missing; its faults are noted as `field.name`.
    pub fn optional_object<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let object = self.optional(field, |value| {
            serde_json::from_str::<Object>(value.literal()).map_err(|_| ("wrong-type", "must be an object".to_owned()))
        })?;
        let mut inner = Self::from_object(object, self.status);
        let read = read(&mut inner);
        let outer = |fault: FieldError| FieldError { field: format!("{field}.{}", fault.field), ..fault };
        self.errors.extend(inner.errors.into_iter().map(outer));
        Some(read)
    }

    /// A list of at most `length_max` strings of 1 to `chars_max` characters; empty when it is missing.
    pub fn texts(&mut self, field: &str, length_max: usize, chars_max: usize) -> Vec<String> {
        let texts = self.optional(field, |value| {
            let wrong = || ("wrong-type", "must be a list of strings".to_owned());
            let items: Vec<Box<RawValue>> = serde_json::from_str(value.literal()).map_err(|_| wrong())?;
            if items.len() > length_max {
                return Err(("too-long", format!("must have at most {length_max} items")));
            }
            items.into_iter().map(|item| read_text(&Value::Json(item), chars_max, true)).collect()
        });
        texts.unwrap_or_default()
    }

    /// One of the fixed strings that `parse` knows.
    pub fn one_of<T: Copy + std::fmt::Display>(
        &mut self,
        field: &str,
        all: &'static [T],
        parse: fn(&str) -> Option<T>,
    ) -> T {
        if !self.has(field) {
            self.refuse(field, "required", "is required");
        }
        self.optional_one_of(field, all, parse).unwrap_or(all[0])
    }

    /// One of the fixed strings that `parse` knows, if it is there.
    pub fn optional_one_of<T: Copy + std::fmt::Display>(
        &mut self,
        field: &str,
        all: &'static [T],
        parse: fn(&str) -> Option<T>,
    ) -> Option<T> {
        self.optional(field, |value| {
            let text = value.string().ok_or(("wrong-type", "must be a string".to_owned()))?;
            parse(&text).ok_or_else(|| {
                let known: Vec<String> = all.iter().map(ToString::to_string).collect();
                ("unknown-value", format!("must be one of {}", known.join(", ")))
            })
        })
    }
}

/// The hyphenated form only: it is what the API hands out.
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    if text.len() == 36 { Uuid::parse_str(text).ok() } else { None }
}

fn read_text(value: &Value, chars_max: usize, required: bool) -> Result<String, (&'static str, String)> {
    let text = value.string().ok_or(("wrong-type", "must be a string".to_owned()))?;
    if text.contains('\0') {
        return Err(("invalid-characters", "must not contain the character U+0000".to_owned()));
    }
    if required && text.trim().is_empty() {
        return Err(("blank", "must not be blank".to_owned()));
    }
    if text.chars().count() > chars_max {
        return Err(("too-long", format!("must have at most {chars_max} characters")));
    }
    Ok(text)
}

fn read_boolean(value: &Value) -> Result<bool, (&'static str, String)> {
    match value.literal() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(("wrong-type", "must be true or false".to_owned())),
    }
}

/// A JSON number as the nearest double; beyond their range it is infinite.
fn read_number(value: &Value) -> Result<f64, (&'static str, String)> {
    let literal = value.literal();
    // Rust reads "inf", "NaN" and "+1" too; JSON does not.
    let plain = literal.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let plain = plain && literal.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let number = if plain { literal.parse().ok() } else { None };
    number.ok_or(("wrong-type", "must be a number".to_owned()))
}

fn check_range(number: f64, min: f64, max: f64) -> Result<f64, (&'static str, String)> {
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    let bounds = if max == f64::MAX {
        format!("must be a finite number of at least {min}")
    } else {
        format!("must be from {min} to {max}")
    };
    Err(("out-of-range", bounds))
}

fn read_integer(value: &Value, min: u32, max: Option<u32>) -> Result<u32, (&'static str, String)> {
    let number = read_number(value).map_err(|(code, _)| (code, "must be an integer".to_owned()))?;
    if number.is_finite() && number.fract() != 0.0 {
        return Err(("wrong-type", "must be an integer".to_owned()));
    }
    let (low, high) = (f64::from(min), max.map_or(f64::INFINITY, f64::from));
    if !(low..=high).contains(&number) {
        let bounds = match max {
            Some(max) => format!("must be from {min} to {max}"),
            None => format!("must be at least {min}"),
        };
        return Err(("out-of-range", bounds));
    }
    // Doubles to the left of 2^32 are exact; a cast saturates beyond.
    Ok(number as u32)
}
