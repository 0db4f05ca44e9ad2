//! What STP's answers say about a payment. Pure; what is not understood is never guessed.
//!
//! Errors name STP's numbers and states but never its sentences, which quote account numbers.

use anyhow::{anyhow, bail, ensure};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::{News, Payment, RailError};
use super::client::Reply;
use super::state;
use crate::domain::money::Money;

/// `registra` has had an order of this tracking key on that operating day.
const REPEATED: i64 = -1;

/// Refusals of `registra` that no second attempt changes, with SPEI's reason where one says the same.
const REFUSALS: [(i64, Option<&str>); 8] = [
    // The account does not exist.
    (-7, Some("01")),
    // The institution does not take part.
    (-9, None),
    // The type of account is wrong.
    (-11, Some("17")),
    // The amount is not one that the institution takes.
    (-20, None),
    // The CLABE is of another institution.
    (-22, Some("06")),
    // Sender and payee are the same account.
    (-24, None),
    // The tracking key is not one.
    (-34, None),
    // Refused by the rules against money laundering.
    (-200, None),
];

/// `consultaOrden` found the order.
const FOUND: i64 = 0;

/// `consultaOrden` has no such order.
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

/// What `registra` answered.
pub(super) fn registered(reply: &Reply) -> Result<News, RailError> {
    read_registered(reply).map_err(RailError::Unknown)
}

fn read_registered(reply: &Reply) -> anyhow::Result<News> {
    ensure!(reply.status == StatusCode::OK, "registra answered with status {}", reply.status);
    let Registered { result } = serde_json::from_slice(&reply.body)?;
    if let Some((_, reason)) = REFUSALS.iter().find(|(id, _)| *id == result.id) {
        return Ok(News::Rejected(reason.map(str::to_owned)));
    }
    match result.id {
        REPEATED => Ok(News::Taken),
        1.. if result.error.is_none_or(|error| error.is_empty()) => Ok(News::Taken),
        // 0 comes with sentences of all sorts, down to "no answer from the service".
        id => bail!("registra answered with the error {id}"),
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

/// What `consultaOrden` answered about a payment; none when STP does not have it.
pub(super) fn found(reply: &Reply, payment: &Payment) -> Result<Option<News>, RailError> {
    read_found(reply, payment).map_err(RailError::Unknown)
}

fn read_found(reply: &Reply, payment: &Payment) -> anyhow::Result<Option<News>> {
    // That there is none comes as 400.
    let may_be_read = [StatusCode::OK, StatusCode::BAD_REQUEST].contains(&reply.status);
    ensure!(may_be_read, "consultaOrden answered with status {}", reply.status);
    let Consulted { outcome, order } = serde_json::from_slice(&reply.body)?;
    let order = match (outcome, order) {
        (FOUND, Some(order)) => order,
        (NOT_FOUND, None) => return Ok(None),
        (outcome, _) => bail!("consultaOrden answered with the state {outcome}"),
    };
    ensure!(order.tracking_key.trim_end() == payment.tracking_key, "consultaOrden answered about another order");
    let amount = Money::parse_amount(order.amount.get());
    ensure!(amount == Ok(payment.amount), "STP has the order with another amount");
    let state = order.state.trim_end();
    let news =
        state::news(state, &order.cause).ok_or_else(|| anyhow!("the order's state {state:?} has no meaning here"))?;
    Ok(Some(news))
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

    fn refused(reason: &str) -> Option<News> {
        Some(News::Rejected(Some(reason.to_owned())))
    }

    #[test]
    fn a_registration_is_taken_refused_or_not_known() {
        let error = |id: i64| json!({ "resultado": { "id": id, "descripcionError": "algo" } }).to_string();
        for (status, body, want) in [
            (200, json!({ "resultado": { "id": 21_787_172 } }).to_string(), Some(News::Taken)),
            (200, json!({ "resultado": { "id": 3, "descripcionError": null } }).to_string(), Some(News::Taken)),
            (200, error(-1), Some(News::Taken)),
            (200, error(-7), refused("01")),
            (200, error(-11), refused("17")),
            (200, error(-22), refused("06")),
            (200, error(-9), Some(News::Rejected(None))),
            (200, error(-20), Some(News::Rejected(None))),
            (200, error(-24), Some(News::Rejected(None))),
            (200, error(-34), Some(News::Rejected(None))),
            (200, error(-200), Some(News::Rejected(None))),
            // An error with the number of an order, and numbers without a meaning.
            (200, error(3), None),
            (200, error(0), None),
            (200, error(-2), None),
            (200, json!({ "resultado": { "id": "3" } }).to_string(), None),
            (200, json!({ "id": 3 }).to_string(), None),
            (200, "<html>".to_owned(), None),
            (200, String::new(), None),
            // The right words with a wrong status.
            (202, json!({ "resultado": { "id": 3 } }).to_string(), None),
            (400, error(-7), None),
            (500, error(-7), None),
        ] {
            match (registered(&reply(status, &body)), want) {
                (Ok(news), Some(want)) => assert_eq!(news, want, "{status} {body}"),
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

    /// The order of [`payment`] in some state, in the shape that STP's test system answers.
    fn order(state: &str, cause: &str) -> String {
        format!(
            r#"{{"estado":0,"mensaje":"Datos consultados correctamente","respuesta":{{"idEF":9681565,
            "claveRastreo":"CUENCA0000192923","empresa":"TAMIZI","estado":"{state}","fechaOperacion":20230518,
            "monto":10.90,"tsLiquidacion":null,"causaDevolucion":{cause},"urlCEP":null}}}}"#
        )
    }

    #[track_caller]
    fn check(status: u16, body: &str, want: Option<Option<News>>) {
        match (found(&reply(status, body), &payment()), want) {
            (Ok(news), Some(want)) => assert_eq!(news, want, "{status} {body}"),
            (Err(RailError::Unknown(_)), None) => {}
            (other, want) => panic!("{status} {body}: {other:?}, not {want:?}"),
        }
    }

    #[test]
    fn an_order_is_found_in_a_state() {
        check(200, &order("A", "null"), Some(Some(News::Taken)));
        check(200, &order("LQ ", "null"), Some(Some(News::Settled)));
        check(200, &order("CN", "null"), Some(Some(News::Rejected(None))));
        check(200, &order("D", "6"), Some(Some(News::Returned(Some("06".into())))));
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
    fn an_answer_about_another_order_is_none() {
        check(200, &order("LQ", "null").replace("192923", "192924"), None);
        check(200, &order("LQ", "null").replace("10.90", "10.91"), None);
        check(200, &order("LQ", "null").replace("10.90", "null"), None);
        check(400, &order("LQ", "null"), Some(Some(News::Settled)));
    }
}
