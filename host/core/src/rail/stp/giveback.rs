//! The return of an order to this bank, for `retornaOrden`.

use super::settings::Participant;
use super::signature::Key;
use super::text;
use crate::rail::{IncomingOrder, RailError};

/// Prefix of the tracking keys of returns.
const PREFIX: &str = "CAUDR";

/// Characters after it, up to SPEI's maximum of 30.
const SUFFIX_LENGTH: usize = 25;

/// The tracking key follows from the order, so that STP refuses a second return.
fn return_key(order: &IncomingOrder) -> String {
    let id = order.transfer_id().simple().to_string().to_ascii_uppercase();
    format!("{PREFIX}{}", &id[..SUFFIX_LENGTH])
}

/// The body, signed. No value has a character that JSON escapes.
pub(super) fn signed(order: &IncomingOrder, participant: &Participant, key: &Key) -> Result<String, RailError> {
    // Name, value, and whether it is a number, in the order of the signature.
    let fields = [
        ("fechaOperacion", text::date(order.operating_date), true),
        ("institucionOperante", participant.institution.to_string(), true),
        ("claveRastreo", order.tracking_key.clone(), false),
        ("monto", order.amount.to_string(), true),
        // These two as STP's client libraries send them.
        ("digitoIdentificadorBeneficiario", "2".to_owned(), false),
        ("claveRastreoDevolucion", return_key(order), false),
        ("medioEntrega", "3".to_owned(), false),
    ];
    let canonical = text::canonical(fields.iter().map(|(_, value, _)| value.as_str()));
    let signature = key.sign(&canonical).map_err(RailError::Unreachable)?;
    let others = [("empresa", participant.company.clone(), false), ("firma", signature, false)];
    let json = |(name, value, is_number)| match is_number {
        true => format!(r#""{name}":{value}"#),
        false => format!(r#""{name}":"{value}""#),
    };
    let body: Vec<String> = fields.into_iter().chain(others).map(json).collect();
    Ok(format!("{{{}}}", body.join(",")))
}
