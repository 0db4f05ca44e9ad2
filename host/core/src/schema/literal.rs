//! Values as sent, and their parsers. Numbers are not rounded in between.

use std::borrow::Cow;

use serde_json::value::RawValue;
use uuid::Uuid;

use super::field::{Shape, TextForm};
use super::text::{first_forbidden, is_blank, is_invisible};

/// What is wrong with a value: a code for programs and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: &'static str,
    pub detail: Cow<'static, str>,
}

impl Fault {
    pub fn new(code: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// The text of one value.
#[derive(Debug, Clone, Copy)]
pub enum Literal<'a> {
    /// JSON.
    Json(&'a str),
    /// A query parameter or a cell of a CSV file: a string without quotes, or a number or boolean.
    Text(&'a str),
}

impl<'a> Literal<'a> {
    pub fn text(self) -> &'a str {
        match self {
            Self::Json(text) | Self::Text(text) => text,
        }
    }

    /// The string; `None` for other JSON.
    pub fn string(self) -> Option<Cow<'a, str>> {
        let raw = match self {
            Self::Text(text) => return Some(Cow::Borrowed(text)),
            Self::Json(raw) => raw,
        };
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        // A lone surrogate is not a character.
        serde_json::from_str(raw).ok().map(Cow::Owned)
    }
}

/// The hyphenated form only, which the API issues.
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    if text.len() == 36 { Uuid::parse_str(text).ok() } else { None }
}

pub(super) fn read_text(literal: Literal<'_>, chars_max: Option<usize>, form: TextForm) -> Result<Cow<'_, str>, Fault> {
    let text = literal.string().ok_or(Fault::new("wrong-type", "must be a string"))?;
    if let Some(character) = first_forbidden(&text) {
        return Err(invalid_character(character));
    }
    let text = if form == TextForm::Line { trimmed(text) } else { text };
    if matches!(form, TextForm::NotBlank | TextForm::AccountNumber) && is_blank(&text) {
        return Err(Fault::new("blank", "must not be blank"));
    }
    // What cannot be seen would make two numbers of one.
    if form == TextForm::AccountNumber
        && let Some(character) = text.chars().find(|character| is_invisible(*character))
    {
        return Err(invalid_character(character));
    }
    if form == TextForm::Line
        && let Some(character) = text.chars().find(|it| is_invisible(*it) || it.is_whitespace() && *it != ' ')
    {
        return Err(invalid_character(character));
    }
    if let Some(chars_max) = chars_max
        && text.len() > chars_max
        && text.chars().count() > chars_max
    {
        return Err(Fault::new("too-long", format!("must have at most {chars_max} characters")));
    }
    if form == TextForm::AccountNumber && !text.contains(char::is_alphanumeric) {
        return Err(Fault::new("blank", "must contain a letter or digit"));
    }
    if form == TextForm::Visible && (text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Fault::new("invalid-characters", "must have visible ASCII characters only, at least one"));
    }
    match form {
        TextForm::Constant(only) if text != only => Err(Fault::new("unknown-value", format!("must be {only}"))),
        _ => Ok(text),
    }
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => text.trim().into(),
        Cow::Owned(text) => text.trim().to_owned().into(),
    }
}

fn invalid_character(character: char) -> Fault {
    Fault::new("invalid-characters", format!("must not contain the character U+{:04X}", u32::from(character)))
}

/// The texts of a list's items, as many as `shape` allows.
pub(super) fn read_items<'a>(literal: Literal<'a>, shape: &Shape) -> Result<Vec<&'a str>, Fault> {
    let Shape::Array { items: each, length_min, length_max } = *shape else { return Ok(Vec::new()) };
    let kind = match each {
        Shape::Object(_) => "objects",
        Shape::Integer { .. } => "integers",
        Shape::Number { .. } => "numbers",
        _ => "strings",
    };
    let items: Result<Vec<&RawValue>, _> = serde_json::from_str(literal.text());
    let items = items.map_err(|_| Fault::new("wrong-type", format!("must be a list of {kind}")))?;
    if items.len() < length_min {
        return Err(Fault::new("too-short", format!("must have {length_min} or more items")));
    }
    if let Some(length_max) = length_max
        && items.len() > length_max
    {
        return Err(Fault::new("too-long", format!("must have at most {length_max} items")));
    }
    Ok(items.into_iter().map(RawValue::get).collect())
}

pub(super) fn read_boolean(literal: Literal<'_>) -> Result<bool, Fault> {
    match literal.text() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Fault::new("wrong-type", "must be true or false")),
    }
}

/// A JSON number as the nearest double; infinite if it is out of range.
fn read_double(literal: Literal<'_>) -> Option<f64> {
    let text = literal.text();
    // Rust also parses "inf", "NaN" and "+1", which are not JSON.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let plain = plain && text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

pub(super) fn read_number(literal: Literal<'_>, at_least: Option<f64>, at_most: Option<f64>) -> Result<f64, Fault> {
    let number = read_double(literal).ok_or(Fault::new("wrong-type", "must be a number"))?;
    let (min, max) = (at_least.unwrap_or(f64::MIN), at_most.unwrap_or(f64::MAX));
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    let bounds = match at_most {
        None => format!("must be a finite number of at least {min}"),
        Some(max) => format!("must be from {min} to {max}"),
    };
    Err(Fault::new("out-of-range", bounds))
}

/// Integers above `u32::MAX` saturate where `at_most` allows them.
pub(super) fn read_integer(literal: Literal<'_>, at_least: Option<i64>, at_most: Option<i64>) -> Result<u32, Fault> {
    let number = read_double(literal).ok_or(Fault::new("wrong-type", "must be an integer"))?;
    if number.is_finite() && number.fract() != 0.0 {
        return Err(Fault::new("wrong-type", "must be an integer"));
    }
    let min = at_least.unwrap_or(0);
    let high = at_most.map_or(f64::INFINITY, |max| max as f64);
    if !(min as f64..=high).contains(&number) {
        let bounds = match at_most {
            Some(max) => format!("must be from {min} to {max}"),
            None => format!("must be at least {min}"),
        };
        return Err(Fault::new("out-of-range", bounds));
    }
    // Integers below 2^32 are exact as doubles; the cast saturates beyond.
    Ok(number as u32)
}
