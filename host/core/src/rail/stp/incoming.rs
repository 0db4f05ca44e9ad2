//! Interprets what STP says about orders to this bank, and its lists of a day. Pure, like `answers`: what is not understood
//! is an error, never money.

use anyhow::{anyhow, ensure};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use time::Date;

use super::answers::{FOUND, NOT_FOUND, consulted, is_same};
use super::client::Reply;
use super::json::object;
use super::{state, text};
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::rail::{Direction, Incoming, IncomingOrder, Line, OrderKey, Page, RailError};

/// An order in a reply to `consultaOrden` or `conciliacion`.
#[derive(Deserialize)]
struct Order<'a> {
    #[serde(rename = "claveRastreo")]
    tracking_key: String,
    #[serde(rename = "estado")]
    state: String,
    #[serde(rename = "monto", borrow)]
    amount: &'a RawValue,
    #[serde(rename = "fechaOperacion", default)]
    date: Value,
    /// Of an order to this bank, the sender's.
    #[serde(rename = "institucionContraparte", default)]
    institution: Value,
    #[serde(rename = "empresa", default)]
    company: Value,
    #[serde(rename = "nombreOrdenante", default)]
    payer_name: Value,
    #[serde(rename = "cuentaOrdenante", default)]
    payer: Value,
    #[serde(rename = "nombreBeneficiario", default)]
    payee_name: Value,
    #[serde(rename = "cuentaBeneficiario", default)]
    payee: Value,
    #[serde(rename = "conceptoPago", default)]
    concept: Value,
    #[serde(rename = "referenciaNumerica", default)]
    reference: Value,
    #[serde(rename = "causaDevolucion", default)]
    cause: Value,
}

impl Order<'_> {
    /// `asked` is the date in the request, which not every answer repeats. Without either, nobody vouches for the day: a
    /// notice may name another one, under which the order would be entered a second time.
    fn incoming(&self, company: &str, asked: Option<Date>) -> Result<Incoming, RailError> {
        let unclear = |what: &str| RailError::Undecided(anyhow!("STP has an order to this bank {what}"));
        if !is_same(&self.company, company) {
            return Err(unclear("with a different company"));
        }
        let order = IncomingOrder {
            tracking_key: self.tracking_key.trim().to_owned(),
            operating_date: if self.date.is_null() { asked } else { text::read_date(&self.date) }
                .ok_or_else(|| unclear("without a valid operating date"))?,
            institution: text::read_institution(&self.institution)
                .ok_or_else(|| unclear("without a valid institution"))?,
            amount: Money::parse_amount(self.amount.get()).map_err(|_| unclear("without a valid amount"))?,
            payer_name: text::scalar(&self.payer_name),
            payer_number: text::scalar(&self.payer),
            payee_name: text::scalar(&self.payee_name),
            payee_number: text::scalar(&self.payee).ok_or_else(|| unclear("without a payee's account"))?,
            remittance: Remittance {
                concept: text::scalar(&self.concept),
                reference: text::scalar(&self.reference).and_then(|reference| reference.parse().ok()),
            },
        };
        let order = order.checked().ok_or_else(|| unclear("without a valid tracking key"))?;
        match self.state.trim() {
            // To be sent back: neither this bank's money nor gone.
            "XR" => Err(RailError::Unknown(anyhow!("STP is sending the order back"))),
            state => match state::incoming(state, &self.cause) {
                Some(status) => Ok(Incoming { order, status }),
                None => Err(RailError::Undecided(anyhow!("the order to this bank is in the state {state:?}"))),
            },
        }
    }

    fn sent(&self) -> Option<Line> {
        Some(Line::Sent {
            tracking_key: self.tracking_key.trim().to_owned(),
            amount: Money::parse_amount(self.amount.get()).ok()?,
            sender_number: text::scalar(&self.payer),
            payee_name: text::scalar(&self.payee_name),
            payee_number: text::scalar(&self.payee)?,
            status: state::status(self.state.trim(), &self.cause)?,
        })
    }
}

/// `None` if STP does not have the order.
pub(super) fn found(
    reply: &Reply,
    key: &OrderKey,
    asked: Option<Date>,
    company: &str,
) -> Result<Option<Incoming>, RailError> {
    let Some(order) = consulted::<Order<'_>>(reply).map_err(RailError::Unknown)? else { return Ok(None) };
    let incoming = order.incoming(company, asked)?;
    // STP looks for the tracking key only, which another bank may have used on that day.
    if incoming.order.key() != *key {
        return Err(RailError::Undecided(anyhow!("STP has another order with that tracking key")));
    }
    Ok(Some(incoming))
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(rename = "estado")]
    outcome: i64,
    /// Of all pages.
    #[serde(default)]
    total: Option<usize>,
    #[serde(rename = "datos", borrow, default)]
    orders: Option<Vec<&'a RawValue>>,
}

pub(super) fn listed(
    reply: &Reply,
    (asked, direction, page): (Option<Date>, Direction, u32),
    company: &str,
) -> Result<Page, RailError> {
    let listed = read_listed(reply).map_err(RailError::Unknown)?;
    let mut lines = Vec::new();
    for order in &listed.orders.unwrap_or_default() {
        let order: Order<'_> = object(order.get().as_bytes()).map_err(|error| RailError::Unknown(error.into()))?;
        let line = match direction {
            Direction::Sent => order.sent(),
            Direction::Received => order.incoming(company, asked).ok().map(Line::Received),
        };
        lines.push(line.unwrap_or_else(|| Line::Unclear { tracking_key: order.tracking_key.trim().to_owned() }));
    }
    // Pages are equally long, except for the last one, which may be empty.
    let read = usize::try_from(page).unwrap_or(usize::MAX).saturating_add(1).saturating_mul(lines.len());
    let is_last = lines.is_empty() || listed.total.is_some_and(|total| read >= total);
    Ok(Page { lines, is_last })
}

fn read_listed(reply: &Reply) -> anyhow::Result<Listed<'_>> {
    // An empty list is reported with status 400.
    let is_expected = [StatusCode::OK, StatusCode::BAD_REQUEST].contains(&reply.status);
    ensure!(is_expected, "conciliacion replied with status {}", reply.status);
    let listed: Listed<'_> = object(&reply.body)?;
    let is_empty = listed.orders.as_ref().is_none_or(Vec::is_empty);
    let is_list = listed.outcome == FOUND || listed.outcome == NOT_FOUND && is_empty;
    ensure!(is_list, "conciliacion replied with estado {}", listed.outcome);
    Ok(listed)
}
