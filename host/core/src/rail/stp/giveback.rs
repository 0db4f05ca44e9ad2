//! The return of an order to this bank, for `retornaOrden`.

use serde::Serialize;
use serde_json::value::RawValue;

use super::settings::Participant;
use super::signature::Key;
use super::text;
use crate::rail::{IncomingOrder, RailError};

/// Prefix of the tracking keys of returns.
const PREFIX: &str = "CAUDR";

/// Characters after it, up to SPEI's maximum of 30.
const SUFFIX_LENGTH: usize = 25;

/// `digitoIdentificadorBeneficiario` and `medioEntrega`, as STP's client libraries send them.
const PAYEE_DIGIT: &str = "2";
const CHANNEL: &str = "3";

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "fechaOperacion")]
    date: &'a RawValue,
    #[serde(rename = "institucionOperante")]
    institution: u32,
    #[serde(rename = "claveRastreo")]
    tracking_key: &'a str,
    #[serde(rename = "claveRastreoDevolucion")]
    return_key: &'a str,
    #[serde(rename = "empresa")]
    company: &'a str,
    #[serde(rename = "monto")]
    amount: &'a RawValue,
    #[serde(rename = "digitoIdentificadorBeneficiario")]
    payee_digit: &'static str,
    #[serde(rename = "medioEntrega")]
    channel: &'static str,
    #[serde(rename = "firma")]
    signature: String,
}

/// The tracking key follows from the order, so that STP refuses a second return.
fn return_key(order: &IncomingOrder) -> String {
    let id = order.transfer_id().simple().to_string().to_ascii_uppercase();
    format!("{PREFIX}{}", &id[..SUFFIX_LENGTH])
}

/// The body, signed.
pub(super) fn signed(order: &IncomingOrder, participant: &Participant, key: &Key) -> Result<String, RailError> {
    let (date, amount, return_key) = (text::date(order.operating_date), order.amount.to_string(), return_key(order));
    let canonical = canonical(order, participant, &return_key);
    let number = |text: String| RawValue::from_string(text).map_err(|error| RailError::Unreachable(error.into()));
    let body = Body {
        date: &number(date)?,
        institution: participant.institution,
        tracking_key: &order.tracking_key,
        return_key: &return_key,
        company: &participant.company,
        amount: &number(amount)?,
        payee_digit: PAYEE_DIGIT,
        channel: CHANNEL,
        signature: key.sign(&canonical).map_err(RailError::Unreachable)?,
    };
    serde_json::to_string(&body).map_err(|error| RailError::Unreachable(error.into()))
}

fn canonical(order: &IncomingOrder, participant: &Participant, return_key: &str) -> String {
    text::canonical([
        text::date(order.operating_date).as_str(),
        &participant.institution.to_string(),
        &order.tracking_key,
        &order.amount.to_string(),
        PAYEE_DIGIT,
        return_key,
        CHANNEL,
    ])
}
