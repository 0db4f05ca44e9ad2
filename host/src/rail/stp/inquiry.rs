//! The question what became of an order, by its tracking key. Not for the answer: see `status`.

use serde::Serialize;
use time::Date;

use super::super::RailError;
use super::signature::Key;
use super::text;

/// An order that was sent ("enviada"), not one that came.
const SENT: &str = "E";

/// The body of `consultaOrden`.
#[derive(Serialize)]
pub(super) struct Inquiry<'a> {
    #[serde(rename = "empresa")]
    company: &'a str,
    #[serde(rename = "claveRastreo")]
    tracking_key: &'a str,
    #[serde(rename = "tipoOrden")]
    kind: &'static str,
    /// Only of a day that is over.
    #[serde(rename = "fechaOperacion", skip_serializing_if = "String::is_empty")]
    date: String,
    #[serde(rename = "firma")]
    signature: String,
}

impl<'a> Inquiry<'a> {
    /// After the order of a tracking key, of the present operating day unless a date is given.
    pub(super) fn new(company: &'a str, tracking_key: &'a str, date: Option<Date>) -> Self {
        let date = date.map(text::date).unwrap_or_default();
        Self { company, tracking_key, kind: SENT, date, signature: String::new() }
    }

    fn canonical(&self) -> String {
        text::canonical([self.company, self.tracking_key, self.kind, &self.date])
    }

    /// As JSON with its signature.
    pub(super) fn signed(mut self, key: &Key) -> Result<String, RailError> {
        self.signature = key.sign(&self.canonical()).map_err(RailError::Unreached)?;
        serde_json::to_string(&self).map_err(|error| RailError::Unreached(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    #[test]
    fn the_date_stands_last_and_may_be_missing() {
        let inquiry = Inquiry::new("CAUDAL", "CR1", Some(date!(2026 - 11 - 20)));
        assert_eq!(inquiry.canonical(), "||CAUDAL|CR1|E|20261120||");
        assert_eq!(Inquiry::new("CAUDAL", "CR1", None).canonical(), "||CAUDAL|CR1|E|||");
    }
}
