//! Reads the fields of a request, and reports all faults at once.
//!
//! A missing or wrong value is recorded as a fault and read as a placeholder; [`Fields::finish`] then refuses
//! the request with all faults, so no placeholder is ever used. Unknown fields are ignored, `null` counts as
//! absent, `3.0` is an integer, larger counts saturate.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::Error as _;

use super::field::{Alias, Declaration, Field, Record};
use super::literal::{Fault, Literal, read_items};
use super::object::{Member, ObjectError, split};
use crate::answer;

/// Faults after which the rest of a list is not read: enough to show a mistake that every item has.
const LIST_FAULTS_MAX: usize = 100;

answer! {
    /// What is wrong with one field.
    pub struct FieldError {
        /// A body's field, a query parameter or a header; empty for the whole body.
        pub field: String { example: "\"amount\"" },
        /// Machine-readable.
        pub code: Cow<'static, str> { example: "\"required\"" },
        /// Completes the sentence that begins with the field's name.
        pub detail: String { example: "\"is required\"" },
    }
}

/// A record that is read from requests.
pub trait FromFields: Record + Sized {
    /// Reads the fields in the order of their declaration; faults are recorded.
    fn from_fields(fields: &mut Fields) -> Self;
}

/// A request that is refused.
#[derive(Debug)]
pub struct Invalid {
    /// HTTP status.
    pub status: u16,
    pub errors: Vec<FieldError>,
}

/// Reads a record from JSON that the host wrote.
///
/// # Errors
/// When the JSON is not that of such a record.
pub fn parse<T: FromFields>(json: impl Into<Vec<u8>>) -> serde_json::Result<T> {
    let mut fields = Fields::from_row(json).map_err(serde_json::Error::custom)?;
    let record = fields.read();
    let faults = fields.into_faults();
    faults.first().map_or(Ok(record), |it| Err(serde_json::Error::custom(format!("{} {}", it.field, it.detail))))
}

/// The fields of one request.
#[derive(Debug)]
pub struct Fields {
    text: String,
    members: Vec<Member>,
    /// A bit for each name, by [`bit_of`]: most absent fields are found to be absent without a comparison.
    names: u64,
    /// The member that was read last: clients send fields in the order of their declaration, in which they are read.
    last: Cell<usize>,
    is_json: bool,
    /// Whether unknown fields are refused.
    is_strict: bool,
    errors: Vec<FieldError>,
    status: u16,
}

/// The names of a table's columns, for the fields of each row.
#[derive(Debug)]
pub struct Columns {
    text: String,
    names: Vec<Range<usize>>,
    has_repeated: bool,
}

impl Columns {
    pub fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut columns = Self { text: String::new(), names: Vec::new(), has_repeated: false };
        for name in names {
            let start = columns.text.len();
            columns.text.push_str(name.as_ref());
            columns.names.push(start..columns.text.len());
        }
        columns.has_repeated = columns.names().collect::<BTreeSet<_>>().len() < columns.count();
        columns
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &self.text[name.clone()])
    }
}

impl FieldError {
    pub fn new(field: &str, code: &'static str, detail: impl Into<String>) -> Self {
        Self { field: field.to_owned(), code: code.into(), detail: detail.into() }
    }
}

impl Fields {
    /// From the text of a JSON object; faults are answered with `status`.
    ///
    /// # Errors
    /// When it is not a JSON object, or has two values for one name.
    pub fn from_json(text: impl Into<Vec<u8>>, status: u16) -> Result<Self, ObjectError> {
        let (text, members) = split(text.into())?;
        let names = members.iter().fold(0, |bits, member| bits | bit_of(&text[member.name.clone()]));
        Ok(Self { members, names, is_json: true, status, ..Self::empty(text) })
    }

    fn empty(text: String) -> Self {
        let (members, errors) = (Vec::new(), Vec::new());
        Self { text, members, names: 0, last: Cell::new(0), is_json: false, is_strict: false, errors, status: 400 }
    }

    fn push(&mut self, member: Member) {
        self.names |= bit_of(&self.text[member.name.clone()]);
        self.members.push(member);
    }

    /// Refuses unknown fields, in inner objects too.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    /// From a row of a file of requests to score; faults are read with [`Self::into_faults`].
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn from_row(text: impl Into<Vec<u8>>) -> Result<Self, ObjectError> {
        Self::from_json(text, 422)
    }

    /// From the parameters of a query string. A repeated one is refused; each is compared with those before it.
    pub fn from_query(query: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>) -> Self {
        let mut fields = Self::empty(String::new());
        for (name, value) in query {
            let (name, value) = (name.as_ref(), value.as_ref());
            if fields.has(name) {
                fields.refuse(name, "conflict", "appears twice");
            }
            let [start, middle] = [fields.text.len(), fields.text.len() + name.len()];
            fields.text.push_str(name);
            fields.text.push_str(value);
            fields.push(Member { name: start..middle, value: middle..fields.text.len() });
        }
        fields
    }

    /// From a row of a table; `None` is an absent value. As with a query string, two values for one name are refused.
    pub fn from_columns<'a>(columns: &'a Columns, values: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        if columns.has_repeated {
            return Self::from_query(columns.names().zip(values).filter_map(|(name, value)| Some((name, value?))));
        }
        let mut fields = Self::from_query([("", ""); 0]);
        fields.text.reserve(2 * columns.text.len());
        fields.text.push_str(&columns.text);
        fields.members.reserve(columns.count());
        for (name, value) in columns.names.iter().zip(values) {
            let Some(value) = value else { continue };
            let start = fields.text.len();
            fields.text.push_str(value);
            fields.push(Member { name: name.clone(), value: start..fields.text.len() });
        }
        fields
    }

    /// Reads a record; faults are recorded.
    pub fn read<T: FromFields>(&mut self) -> T {
        self.check_spellings(&T::DECLARATION);
        self.check_names(&T::DECLARATION);
        T::from_fields(self)
    }

    /// Refuses the request if anything was wrong.
    ///
    /// # Errors
    /// All recorded faults.
    pub fn finish(self) -> Result<(), Invalid> {
        if self.errors.is_empty() { Ok(()) } else { Err(Invalid { status: self.status, errors: self.errors }) }
    }

    /// All recorded faults, for a caller that does not [`finish`](Self::finish).
    pub fn into_faults(self) -> Vec<FieldError> {
        self.errors
    }

    /// Records a fault.
    pub fn refuse(&mut self, field: &str, code: &'static str, detail: impl Into<String>) {
        self.errors.push(FieldError::new(field, code, detail));
    }

    /// Whether the field is present and not null.
    pub fn has(&self, name: &str) -> bool {
        self.literal(name).is_some()
    }

    fn literal(&self, name: &str) -> Option<Literal<'_>> {
        if self.names & bit_of(name) == 0 {
            return None;
        }
        let last = self.last.get();
        let (before, from) = self.members.split_at(last.min(self.members.len()));
        let at = from.iter().chain(before).position(|member| self.text[member.name.clone()] == *name)?;
        let at = (last + at) % self.members.len();
        self.last.set(at);
        let member = &self.members[at];
        let value = &self.text[member.value.clone()];
        match self.is_json {
            true => (value != "null").then_some(Literal::Json(value)),
            false => Some(Literal::Text(value)),
        }
    }

    /// The value of a field under whichever of its names was sent; none when it is absent or wrong.
    pub(super) fn optional<T>(&mut self, field: &Field, read: impl Fn(Literal<'_>) -> Result<T, Fault>) -> Option<T> {
        match field.alias {
            Some(Alias::Spelling(alias)) if self.has(alias) && !self.has(field.name) => self.optional_as(alias, read),
            Some(Alias::Synonym(alias)) if self.has(alias) => {
                let value = self.optional_as(field.name, &read);
                let by_alias = self.optional_as(alias, &read);
                let text = |name| self.literal(name).and_then(Literal::string);
                if value.is_some() && by_alias.is_some() && text(field.name) != text(alias) {
                    self.refuse(alias, "conflict", format!("differs from {}", field.name));
                }
                by_alias.or(value)
            }
            _ => self.optional_as(field.name, read),
        }
    }

    fn optional_as<T>(&mut self, name: &str, read: impl Fn(Literal<'_>) -> Result<T, Fault>) -> Option<T> {
        match read(self.literal(name)?) {
            Ok(value) => Some(value),
            Err(Fault { code, detail }) => {
                self.refuse(name, code, detail);
                None
            }
        }
    }

    /// Records a fault if a required field is absent.
    pub(super) fn check_presence(&mut self, field: &Field) {
        if !self.is_present(field) && !self.is_waived(field) {
            self.refuse(field.name, "required", "is required");
        }
    }

    pub(super) fn is_present(&self, field: &Field) -> bool {
        self.has(field.name) || field.alias.is_some_and(|alias| self.has(alias.name()))
    }

    /// Whether the request uses the alias that makes this field optional, and not its full name.
    fn is_waived(&self, field: &Field) -> bool {
        field.optional_with.is_some_and(|(alias, name)| self.has(alias) && !self.has(name))
    }

    /// Two spellings at once could differ.
    fn check_spellings(&mut self, declaration: &Declaration) {
        for field in declaration.fields {
            if let Some(Alias::Spelling(alias)) = field.alias
                && self.has(alias)
                && self.has(field.name)
            {
                self.refuse(alias, "conflict", format!("is the same field as {}: send one of them", field.name));
            }
        }
    }

    fn check_names(&mut self, declaration: &Declaration) {
        if !self.is_strict {
            return;
        }
        let known = declaration.wire_fields();
        let is_known = |name: &str| {
            known.iter().any(|field| field.name == name || field.alias.is_some_and(|alias| alias.name() == name))
        };
        let names = self.members.iter().map(|member| &self.text[member.name.clone()]);
        let unknown: Vec<_> = names.filter(|name| !is_known(name)).take(LIST_FAULTS_MAX).map(str::to_owned).collect();
        for name in unknown {
            self.refuse(&name, "unknown-field", "is not a field of this request");
        }
    }

    /// Reads an object in a field; its faults are recorded as `field.name`.
    pub fn object<T: FromFields>(&mut self, field: &Field) -> Option<T> {
        self.check_presence(field);
        let (status, is_strict) = (self.status, self.is_strict);
        let mut inner = self.optional(field, |literal| {
            Self::from_json(literal.text(), status).map_err(|_| Fault::new("wrong-type", "must be an object"))
        })?;
        inner.is_strict = is_strict;
        let read = inner.read();
        self.errors.extend(within(field.name, inner.errors));
        Some(read)
    }

    /// Reads a list of objects in a field; their faults are recorded as `field[0].name`.
    pub(super) fn objects<T: FromFields>(&mut self, field: &Field) -> Vec<T> {
        self.check_presence(field);
        let status = self.status;
        let read = self.optional(field, |literal| {
            let items = read_items(literal, &field.shape)?;
            Ok(items.into_iter().map(|item| Self::from_json(item, status)).collect::<Vec<_>>())
        });
        let (mut list, mut faults) = (Vec::new(), Vec::new());
        for (at, object) in read.unwrap_or_default().into_iter().enumerate() {
            let place = format!("{}[{at}]", field.name);
            match object {
                Ok(mut inner) => {
                    inner.is_strict = self.is_strict;
                    list.push(inner.read());
                    faults.extend(within(&place, inner.errors));
                }
                Err(_) => faults.push(FieldError::new(&place, "wrong-type", "must be an object")),
            }
            if faults.len() >= LIST_FAULTS_MAX {
                break;
            }
        }
        self.errors.extend(faults);
        list
    }
}

/// By its length and its last byte, which tell names of related fields apart.
fn bit_of(name: &str) -> u64 {
    1 << ((name.len() * 9 + usize::from(name.bytes().last().unwrap_or_default())) % 64)
}

/// The faults of an inner record, named from outside.
fn within(place: &str, faults: Vec<FieldError>) -> impl Iterator<Item = FieldError> {
    faults.into_iter().map(move |fault| FieldError { field: format!("{place}.{}", fault.field), ..fault })
}
