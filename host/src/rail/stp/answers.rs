//! Interprets STP's replies. Pure; a reply that is not understood is an error, never a guess.
//!
//! Errors contain STP's codes and states but never its messages, which quote account numbers.

use anyhow::{anyhow, bail, ensure};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::Reply;
use super::state;
use crate::domain::money::Money;
use crate::rail::{Payment, PaymentStatus, RailError};

/// Code for an order whose tracking key and operating date `registra` already has.
const REPEATED: i64 = -1;

/// Permanent refusals of `registra`, with the equivalent SPEI return reason, if any.
const REFUSALS: [(i64, Option<&str>); 8] = [
    // Nonexistent account.
    (-7, Some("01")),
    // The institution does not participate.
    (-9, None),
    // Wrong account type.
    (-11, Some("17")),
    // Amount not accepted by the institution.
    (-20, None),
    // The CLABE belongs to another institution.
    (-22, Some("06")),
    // Sender and payee are the same account.
    (-24, None),
    // Invalid tracking key.
    (-34, None),
    // Refused by anti-money-laundering rules.
    (-200, None),
];

/// Code for an order that `consultaOrden` found.
const FOUND: i64 = 0;

/// Code for an order that `consultaOrden` does not have.
const NOT_FOUND: i64 = 6;

#[derive(Deserialize)]
struct Registered {
    #[serde(rename = "resultado")]
    result: Registration,
}

#[derive(Deserialize)]
struct Registration {
    id: i64,
    #[serde(rename = "descripcionError", default)]
    error: Option<String>,
}

pub(super) fn registered(reply: &Reply) -> Result<PaymentStatus, RailError> {
    read_registered(reply).map_err(RailError::Unknown)
}

fn read_registered(reply: &Reply) -> anyhow::Result<PaymentStatus> {
    ensure!(reply.status == StatusCode::OK, "registra replied with status {}", reply.status);
    let Registered { result } = serde_json::from_slice(&reply.body)?;
    if let Some((_, reason)) = REFUSALS.iter().find(|(id, _)| *id == result.id) {
        return Ok(PaymentStatus::Rejected(reason.map(str::to_owned)));
    }
    match result.id {
        REPEATED => Ok(PaymentStatus::Accepted),
        1.. if result.error.is_none_or(|error| error.is_empty()) => Ok(PaymentStatus::Accepted),
        // 0 comes with various messages, including "no answer from the service".
        id => bail!("registra replied with error {id}"),
    }
}

#[derive(Deserialize)]
struct Consulted<'a> {
    #[serde(rename = "estado")]
    outcome: i64,
    #[serde(rename = "respuesta", borrow, default)]
    order: Option<Consultation<'a>>,
}

#[derive(Deserialize)]
struct Consultation<'a> {
    #[serde(rename = "claveRastreo")]
    tracking_key: String,
    #[serde(rename = "estado")]
    state: String,
    #[serde(rename = "monto", borrow)]
    amount: &'a RawValue,
    #[serde(rename = "causaDevolucion", default)]
    cause: Value,
}

/// `None` if STP does not have the payment.
pub(super) fn found(reply: &Reply, payment: &Payment) -> Result<Option<PaymentStatus>, RailError> {
    read_found(reply, payment).map_err(RailError::Unknown)
}

fn read_found(reply: &Reply, payment: &Payment) -> anyhow::Result<Option<PaymentStatus>> {
    // A missing order is reported with status 400.
    let is_expected = [StatusCode::OK, StatusCode::BAD_REQUEST].contains(&reply.status);
    ensure!(is_expected, "consultaOrden replied with status {}", reply.status);
    let Consulted { outcome, order } = serde_json::from_slice(&reply.body)?;
    let order = match (outcome, order) {
        (FOUND, Some(order)) => order,
        (NOT_FOUND, None) => return Ok(None),
        (outcome, _) => bail!("consultaOrden replied with estado {outcome}"),
    };
    ensure!(order.tracking_key.trim_end() == payment.tracking_key, "consultaOrden replied about another order");
    let amount = Money::parse_amount(order.amount.get());
    ensure!(amount == Ok(payment.amount), "STP has the order with a different amount");
    let state = order.state.trim_end();
    let status = state::status(state, &order.cause);
    Ok(Some(status.ok_or_else(|| anyhow!("the order is in the unknown state {state:?}"))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use time::macros::datetime;
    use uuid::Uuid;

    fn reply(status: u16, body: &str) -> Reply {
        Reply { status: StatusCode::from_u16(status).unwrap(), body: body.to_owned().into() }
    }

    fn refused(reason: &str) -> Option<PaymentStatus> {
        Some(PaymentStatus::Rejected(Some(reason.to_owned())))
    }

    #[test]
    fn a_registration_is_accepted_refused_or_unknown() {
        let error = |id: i64| json!({ "resultado": { "id": id, "descripcionError": "algo" } }).to_string();
        for (status, body, want) in [
            (200, json!({ "resultado": { "id": 21_787_172 } }).to_string(), Some(PaymentStatus::Accepted)),
            (
                200,
                json!({ "resultado": { "id": 3, "descripcionError": null } }).to_string(),
                Some(PaymentStatus::Accepted),
            ),
            (200, error(-1), Some(PaymentStatus::Accepted)),
            (200, error(-7), refused("01")),
            (200, error(-11), refused("17")),
            (200, error(-22), refused("06")),
            (200, error(-9), Some(PaymentStatus::Rejected(None))),
            (200, error(-20), Some(PaymentStatus::Rejected(None))),
            (200, error(-24), Some(PaymentStatus::Rejected(None))),
            (200, error(-34), Some(PaymentStatus::Rejected(None))),
            (200, error(-200), Some(PaymentStatus::Rejected(None))),
            // An error with an order's number, and unknown error codes.
            (200, error(3), None),
            (200, error(0), None),
            (200, error(-2), None),
            (200, json!({ "resultado": { "id": "3" } }).to_string(), None),
            (200, json!({ "id": 3 }).to_string(), None),
            (200, "<html>".to_owned(), None),
            (200, String::new(), None),
            // A good body with a bad status.
            (202, json!({ "resultado": { "id": 3 } }).to_string(), None),
            (400, error(-7), None),
            (500, error(-7), None),
        ] {
            match (registered(&reply(status, &body)), want) {
                (Ok(found), Some(want)) => assert_eq!(found, want, "{status} {body}"),
                (Err(RailError::Unknown(_)), None) => {}
                (other, want) => panic!("{status} {body}: {other:?}, not {want:?}"),
            }
        }
    }

    fn payment() -> Payment {
        Payment {
            transfer_id: Uuid::nil(),
            tracking_key: "CUENCA0000192923".into(),
            amount: Money::from_minor(1_090),
            created_at: datetime!(2023-05-18 20:37 UTC),
            sender_number: String::new(),
            sender: String::new(),
            payee_name: String::new(),
            payee_number: String::new(),
            payee_bank: String::new(),
        }
    }

    /// [`payment`] in some state, in the format of STP's test system.
    fn order(state: &str, cause: &str) -> String {
        format!(
            r#"{{"estado":0,"mensaje":"Datos consultados correctamente","respuesta":{{"idEF":9681565,
            "claveRastreo":"CUENCA0000192923","empresa":"TAMIZI","estado":"{state}","fechaOperacion":20230518,
            "monto":10.90,"tsLiquidacion":null,"causaDevolucion":{cause},"urlCEP":null}}}}"#
        )
    }

    #[track_caller]
    fn check(status: u16, body: &str, want: Option<Option<PaymentStatus>>) {
        match (found(&reply(status, body), &payment()), want) {
            (Ok(found), Some(want)) => assert_eq!(found, want, "{status} {body}"),
            (Err(RailError::Unknown(_)), None) => {}
            (other, want) => panic!("{status} {body}: {other:?}, not {want:?}"),
        }
    }

    #[test]
    fn a_found_order_has_a_status() {
        check(200, &order("A", "null"), Some(Some(PaymentStatus::Accepted)));
        check(200, &order("LQ ", "null"), Some(Some(PaymentStatus::Settled)));
        check(200, &order("CN", "null"), Some(Some(PaymentStatus::Rejected(None))));
        check(200, &order("D", "6"), Some(Some(PaymentStatus::Returned(Some("06".into())))));
        check(200, &order("RB", "null"), None);
    }

    #[test]
    fn an_order_is_missing_only_when_stp_says_so() {
        let none = r#"{"estado":6,"mensaje":"No se encontraron datos relacionados"}"#;
        check(400, none, Some(None));
        check(200, none, Some(None));
        check(404, none, None);
        check(500, none, None);
        check(400, r#"{"estado":2,"mensaje":"{claveRastreo=...}"}"#, None);
        check(200, r#"{"estado":0,"mensaje":"..."}"#, None);
        check(200, "", None);
    }

    #[test]
    fn an_answer_about_another_order_is_an_error() {
        check(200, &order("LQ", "null").replace("192923", "192924"), None);
        check(200, &order("LQ", "null").replace("10.90", "10.91"), None);
        check(200, &order("LQ", "null").replace("10.90", "null"), None);
        check(400, &order("LQ", "null"), Some(Some(PaymentStatus::Settled)));
    }
}
