//! Reads [`Kind::CASES`].

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::domain::accessibility::Language;
use crate::schema::Fields;
use crate::scoring::kind::{Envelope, Kind};

#[derive(Deserialize)]
pub(crate) struct Case<'a> {
    #[serde(rename = "case")]
    pub(crate) name: String,
    /// As text, so that numbers reach the scorer exactly.
    #[serde(borrow)]
    pub(crate) request: &'a RawValue,
    pub(crate) expect: Map<String, Value>,
    pub(crate) score_below: Option<String>,
    pub(crate) score_at_most: Option<String>,
}

/// A case and its request.
pub(crate) type ReadCase<'a, K> = (Case<'a>, Envelope<<K as Kind>::Request>);

pub(crate) fn read<K: Kind>(text: &str) -> Result<Vec<ReadCase<'_, K>>, String> {
    let read = |(at, line)| {
        let case: Case<'_> = serde_json::from_str(line).map_err(|error| unreadable(&format!("{}", at + 1), error))?;
        let envelope = request_of::<K>(&case)?;
        Ok((case, envelope))
    };
    text.lines().enumerate().map(read).collect()
}

fn request_of<K: Kind>(case: &Case<'_>) -> Result<Envelope<K::Request>, String> {
    let fields = Fields::from_row(case.request.get());
    let mut fields = fields.map_err(|error| unreadable(&case.name, error))?;
    let envelope = Envelope::read::<K>(&mut fields, Language::Spanish);
    match fields.into_faults().first() {
        Some(fault) => Err(unreadable(&case.name, format!("{} {}", fault.field, fault.detail))),
        None => Ok(envelope),
    }
}

/// A defect of this program, which must not let a component pass unchecked.
fn unreadable(case: &str, why: impl std::fmt::Display) -> String {
    format!("this program's own case {case} cannot be read: {why}")
}
