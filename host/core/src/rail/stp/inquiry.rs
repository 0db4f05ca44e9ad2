//! An inquiry about an order by its tracking key. See `answers` for the reply.

use serde::Serialize;
use time::Date;

use super::signature::Key;
use super::text;
use crate::rail::RailError;

/// Sent orders ("enviadas").
pub(super) const SENT: &str = "E";

/// Orders to this bank ("recibidas").
pub(super) const RECEIVED: &str = "R";

/// The body of `consultaOrden`, or without a tracking key that of `V2/conciliacion`, which lists the orders of a day.
#[derive(Serialize)]
pub(super) struct Inquiry<'a> {
    #[serde(rename = "empresa")]
    company: &'a str,
    #[serde(rename = "claveRastreo", skip_serializing_if = "Option::is_none")]
    tracking_key: Option<&'a str>,
    /// Of a list, from 0. It is not signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(rename = "tipoOrden")]
    kind: &'static str,
    /// Blank for the current operating date.
    #[serde(rename = "fechaOperacion", skip_serializing_if = "String::is_empty")]
    date: String,
    #[serde(rename = "firma")]
    signature: String,
}

impl<'a> Inquiry<'a> {
    /// `date` is the order's operating date; `None` if it is the current one.
    pub(super) fn new(company: &'a str, kind: &'static str, tracking_key: &'a str, date: Option<Date>) -> Self {
        let date = date.map(text::date).unwrap_or_default();
        Self { company, tracking_key: Some(tracking_key), page: None, kind, date, signature: String::new() }
    }

    pub(super) fn list(company: &'a str, kind: &'static str, date: Option<Date>, page: u32) -> Self {
        Self { tracking_key: None, page: Some(page), ..Self::new(company, kind, "", date) }
    }

    fn canonical(&self) -> String {
        text::canonical(
            [Some(self.company), self.tracking_key, Some(self.kind), Some(&self.date)].into_iter().flatten(),
        )
    }

    pub(super) fn signed(mut self, key: &Key) -> Result<String, RailError> {
        self.signature = key.sign(&self.canonical()).map_err(RailError::Unreachable)?;
        serde_json::to_string(&self).map_err(|error| RailError::Unreachable(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    #[test]
    fn the_date_comes_last_and_may_be_blank() {
        let inquiry = Inquiry::new("CAUDAL", SENT, "CR1", Some(date!(2026 - 11 - 20)));
        assert_eq!(inquiry.canonical(), "||CAUDAL|CR1|E|20261120||");
        let list = Inquiry::list("CAUDAL", RECEIVED, Some(date!(2026 - 11 - 20)), 3);
        assert_eq!(list.canonical(), "||CAUDAL|R|20261120||");
        assert_eq!(Inquiry::new("CAUDAL", RECEIVED, "CR1", None).canonical(), "||CAUDAL|CR1|R|||");
    }
}
