//! Splits a JSON object into its members without reading their values.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Up to this many members, names are compared one by one.
const FEW: usize = 16;

/// Why a text is not an object.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    #[error("{0}")]
    Malformed(serde_json::Error),
    /// It is other JSON, such as an array.
    #[error("{0}")]
    NotAnObject(serde_json::Error),
}

/// A member's name and value, as ranges of the text around them.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Splits an object. Names that contain escapes are unescaped and appended to the returned text.
pub(super) fn split(bytes: Vec<u8>) -> Result<(String, Vec<Member>), ObjectError> {
    let mut found = Found { members: Vec::with_capacity(FEW), ..Found::default() };
    let mut deserializer = serde_json::Deserializer::from_slice(&bytes);
    match (&mut found).deserialize(&mut deserializer).and_then(|()| deserializer.end()) {
        Ok(()) => {}
        Err(error) if error.is_data() && !found.is_ambiguous => {
            // Not an object; it may not even be JSON.
            serde_json::from_slice::<IgnoredAny>(&bytes).map_err(ObjectError::Malformed)?;
            return Err(ObjectError::NotAnObject(error));
        }
        Err(error) => return Err(ObjectError::Malformed(error)),
    }
    let mut escaped = String::new();
    let mut members = Vec::with_capacity(found.members.len());
    for (name, value) in &found.members {
        let name = match name {
            Cow::Borrowed(name) => range_of(name, &bytes),
            Cow::Owned(name) => {
                let start = bytes.len() + escaped.len();
                escaped.push_str(name);
                start..start + name.len()
            }
        };
        members.push(Member { name, value: range_of(value, &bytes) });
    }
    let text = String::from_utf8(bytes);
    let mut text = text.map_err(|error| ObjectError::Malformed(serde_json::Error::custom(error)))?;
    text.push_str(&escaped);
    Ok((text, members))
}

/// The range of `part` in `whole`, of which it is a slice.
fn range_of(part: &str, whole: &[u8]) -> Range<usize> {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.len()
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Default)]
struct Found<'de> {
    members: Vec<(Cow<'de, str>, &'de str)>,
    /// The names, once there are more than a few.
    names: BTreeSet<String>,
    is_ambiguous: bool,
}

impl Found<'_> {
    fn has(&mut self, name: &str) -> bool {
        if self.members.len() < FEW {
            return self.members.iter().any(|(it, _)| it == name);
        }
        if self.names.is_empty() {
            self.names = self.members.iter().map(|(it, _)| it.clone().into_owned()).collect();
        }
        !self.names.insert(name.to_owned())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Found<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Found<'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
            // Parsers disagree on which of two values with one name counts.
            if self.has(&name) {
                self.is_ambiguous = true;
                return Err(A::Error::custom("a field appears twice"));
            }
            self.members.push((name, value.get()));
        }
        Ok(())
    }
}
