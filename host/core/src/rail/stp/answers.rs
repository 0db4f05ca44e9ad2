//! Interprets STP's replies. Pure; a reply that is not understood is an error, never a guess.
//!
//! Errors contain STP's codes and states but never its messages, which quote account numbers.

use anyhow::{anyhow, bail, ensure};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::Reply;
use super::json::object;
use super::{state, text};
use crate::domain::account_number::normalise;
use crate::domain::money::Money;
use crate::rail::{Payment, PaymentStatus, RailError};

/// Code for an order whose tracking key and operating date `registra` already has.
const REPEATED: i64 = -1;

/// Codes that concern the bank's settings or STP's own service rather than the order: 0, which comes with "no answer
/// from the service" and "error validating the signature" among others, and an unknown company. The next attempt asks
/// first.
const NOT_ABOUT_THE_ORDER: [i64; 2] = [0, -6];

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
pub(super) const FOUND: i64 = 0;

/// Code for an order that `consultaOrden` does not have.
pub(super) const NOT_FOUND: i64 = 6;

#[derive(Deserialize)]
struct Registered<'a> {
    #[serde(rename = "resultado", borrow)]
    result: &'a RawValue,
}

#[derive(Deserialize)]
struct Registration {
    id: i64,
    #[serde(rename = "descripcionError", default)]
    error: Option<String>,
}

pub(super) fn registered(reply: &Reply) -> Result<PaymentStatus, RailError> {
    match read_registered(reply).map_err(RailError::Unknown)? {
        Ok(status) => Ok(status),
        Err(code) => Err(RailError::Undecided(anyhow!("registra refused the order with the unlisted error {code}"))),
    }
}

/// The status, or an error code that says neither that the order was taken nor that it never will be.
fn read_registered(reply: &Reply) -> anyhow::Result<Result<PaymentStatus, i64>> {
    ensure!(reply.status == StatusCode::OK, "registra replied with status {}", reply.status);
    let Registered { result } = object(&reply.body)?;
    let result: Registration = object(result.get().as_bytes())?;
    if let Some((_, reason)) = REFUSALS.iter().find(|(id, _)| *id == result.id) {
        return Ok(Ok(PaymentStatus::Rejected(reason.map(str::to_owned))));
    }
    match result.id {
        REPEATED => Ok(Ok(PaymentStatus::Accepted)),
        1.. if result.error.is_none_or(|error| error.is_empty()) => Ok(Ok(PaymentStatus::Accepted)),
        id if id > 0 || NOT_ABOUT_THE_ORDER.contains(&id) => bail!("registra replied with error {id}"),
        id => Ok(Err(id)),
    }
}

#[derive(Deserialize)]
struct Consulted<'a> {
    #[serde(rename = "estado")]
    outcome: i64,
    #[serde(rename = "respuesta", borrow, default)]
    order: Option<&'a RawValue>,
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
    #[serde(rename = "empresa", default)]
    company: Value,
    #[serde(rename = "fechaOperacion", default)]
    date: Value,
    #[serde(rename = "cuentaBeneficiario", default)]
    payee: Value,
}

/// `None` if STP does not have the payment. `company` is the one that was asked about.
pub(super) fn found(reply: &Reply, payment: &Payment, company: &str) -> Result<Option<PaymentStatus>, RailError> {
    let Some(order) = read_found(reply, payment).map_err(RailError::Unknown)? else { return Ok(None) };
    let other = |what| Err(RailError::Undecided(anyhow!("STP has the order with a different {what}")));
    if Money::parse_amount(order.amount.get()) != Ok(payment.amount) {
        return other("amount");
    }
    // The key could be another company's or another day's. Not every answer has all of them.
    if !is_same(&order.company, company) {
        return other("company");
    }
    if !is_same(&order.date, &text::date(payment.operating_date)) {
        return other("operating date");
    }
    if !is_same(&order.payee, &normalise(&payment.payee_number)) {
        return other("payee's account");
    }
    match state::status(order.state.trim_end(), &order.cause) {
        Some(status) => Ok(Some(status)),
        None => Err(RailError::Undecided(anyhow!("the order is in the state {:?}", order.state.trim_end()))),
    }
}

/// Whether a field has this value, as a text or a number, or none.
pub(super) fn is_same(field: &Value, value: &str) -> bool {
    match field {
        Value::Null => true,
        Value::String(text) => ["", value].contains(&text.trim()),
        Value::Number(number) => number.as_u64().is_some_and(|it| value.parse() == Ok(it)),
        _ => false,
    }
}

fn read_found<'a>(reply: &'a Reply, payment: &Payment) -> anyhow::Result<Option<Consultation<'a>>> {
    let order: Option<Consultation<'a>> = consulted(reply)?;
    let is_it = order.as_ref().is_none_or(|order| order.tracking_key.trim_end() == payment.tracking_key);
    ensure!(is_it, "consultaOrden replied about another order");
    Ok(order)
}

/// The order in a reply to `consultaOrden`; `None` if STP does not have it.
pub(super) fn consulted<'a, T: Deserialize<'a>>(reply: &'a Reply) -> anyhow::Result<Option<T>> {
    // A missing order is reported with status 400.
    let is_expected = [StatusCode::OK, StatusCode::BAD_REQUEST].contains(&reply.status);
    ensure!(is_expected, "consultaOrden replied with status {}", reply.status);
    let Consulted { outcome, order } = object(&reply.body)?;
    let order = order.map(|order| object::<T>(order.get().as_bytes())).transpose()?;
    match (outcome, order) {
        (FOUND, Some(order)) => Ok(Some(order)),
        (NOT_FOUND, None) => Ok(None),
        (outcome, _) => bail!("consultaOrden replied with estado {outcome}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::remittance::Remittance;
    use serde_json::json;
    use time::macros::{date, datetime};
    use uuid::Uuid;

    fn reply(status: u16, body: &str) -> Reply {
        Reply { status: StatusCode::from_u16(status).unwrap(), body: body.to_owned().into() }
    }

    fn refused(reason: &str) -> Result<PaymentStatus, &'static str> {
        Ok(PaymentStatus::Rejected(Some(reason.to_owned())))
    }

    /// The kind of an error.
    fn kind(error: RailError) -> &'static str {
        match error {
            RailError::Unreachable(_) => "unreachable",
            RailError::Unknown(_) => "unknown",
            RailError::Undecided(_) => "undecided",
        }
    }

    #[test]
    fn a_registration_is_accepted_refused_or_unknown() {
        let error = |id: i64| json!({ "resultado": { "id": id, "descripcionError": "algo" } }).to_string();
        let (accepted, rejected) = (Ok(PaymentStatus::Accepted), Ok(PaymentStatus::Rejected(None)));
        for (status, body, want) in [
            (200, json!({ "resultado": { "id": 21_787_172 } }).to_string(), accepted.clone()),
            (200, json!({ "resultado": { "id": 3, "descripcionError": null } }).to_string(), accepted.clone()),
            (200, error(-1), accepted),
            (200, error(-7), refused("01")),
            (200, error(-11), refused("17")),
            (200, error(-22), refused("06")),
            (200, error(-9), rejected.clone()),
            (200, error(-20), rejected.clone()),
            (200, error(-24), rejected.clone()),
            (200, error(-34), rejected.clone()),
            (200, error(-200), rejected),
            // An error with an order's number.
            (200, error(3), Err("unknown")),
            (200, error(0), Err("unknown")),
            (200, error(-6), Err("unknown")),
            // "Duplicated order" does not say of what, and the others are unlisted.
            (200, error(-2), Err("undecided")),
            (200, error(-16), Err("undecided")),
            (200, error(-999), Err("undecided")),
            (200, json!({ "resultado": { "id": "3" } }).to_string(), Err("unknown")),
            (200, json!({ "id": 3 }).to_string(), Err("unknown")),
            // By position.
            (200, "[[3]]".to_owned(), Err("unknown")),
            (200, r#"{"resultado": [-7]}"#.to_owned(), Err("unknown")),
            (200, "<html>".to_owned(), Err("unknown")),
            (200, String::new(), Err("unknown")),
            // A good body with a bad status.
            (202, json!({ "resultado": { "id": 3 } }).to_string(), Err("unknown")),
            (400, error(-7), Err("unknown")),
            (500, error(-7), Err("unknown")),
        ] {
            assert_eq!(registered(&reply(status, &body)).map_err(kind), want, "{status} {body}");
        }
    }

    fn payment() -> Payment {
        Payment {
            transfer_id: Uuid::nil(),
            tracking_key: "CUENCA0000192923".into(),
            amount: Money::from_minor(1_090),
            created_at: datetime!(2023-05-18 20:37 UTC),
            operating_date: date!(2023 - 05 - 18),
            sender_number: None,
            sender_name: None,
            payee_name: String::new(),
            remittance: Remittance::NONE,
            payee_number: "6461 8015 7099 9999 93".into(),
            payee_bank: String::new(),
        }
    }

    /// [`payment`] in some state, in the format of STP's test system.
    fn order(state: &str, cause: &str) -> String {
        format!(
            r#"{{"estado":0,"mensaje":"Datos consultados correctamente","respuesta":{{"idEF":9681565,
            "claveRastreo":"CUENCA0000192923","empresa":"TAMIZI","estado":"{state}","fechaOperacion":20230518,
            "cuentaBeneficiario":"646180157099999993","monto":10.90,"tsLiquidacion":null,"causaDevolucion":{cause},"urlCEP":null}}}}"#
        )
    }

    #[track_caller]
    fn check(status: u16, body: &str, want: Result<Option<PaymentStatus>, &'static str>) {
        assert_eq!(found(&reply(status, body), &payment(), "TAMIZI").map_err(kind), want, "{status} {body}");
    }

    #[test]
    fn a_found_order_has_a_status() {
        check(200, &order("A", "null"), Ok(Some(PaymentStatus::Accepted)));
        check(200, &order("LQ ", "null"), Ok(Some(PaymentStatus::Settled)));
        check(200, &order("CN", "null"), Ok(Some(PaymentStatus::Rejected(None))));
        check(200, &order("D", "6"), Ok(Some(PaymentStatus::Returned(Some("06".into())))));
    }

    #[test]
    fn an_order_in_an_unclear_state_or_with_another_amount_is_undecided() {
        check(200, &order("RB", "null"), Err("undecided"));
        check(200, &order("??", "null"), Err("undecided"));
        for amount in ["10.91", "null", "\"10.90\"", "-10.90"] {
            check(200, &order("LQ", "null").replace("10.90", amount), Err("undecided"));
        }
    }

    #[test]
    fn an_order_of_another_company_day_or_payee_is_undecided() {
        let order = order("LQ", "null");
        for (field, others) in [
            ("\"TAMIZI\"", ["\"OTRA\"", "\"tamizi\"", "7"]),
            ("20230518", ["20230519", "\"20230519\"", "2023051"]),
            ("\"646180157099999993\"", ["\"646180157099999994\"", "646180157099999994", "[]"]),
        ] {
            assert!(order.contains(field));
            others.iter().for_each(|other| check(200, &order.replace(field, other), Err("undecided")));
            check(200, &order.replace(field, "null"), Ok(Some(PaymentStatus::Settled)));
        }
        let texts = order.replace("20230518", "\"20230518 \"").replace("\"646180157099999993\"", "646180157099999993");
        check(200, &texts, Ok(Some(PaymentStatus::Settled)));
    }

    #[test]
    fn an_order_is_missing_only_when_stp_says_so() {
        let none = r#"{"estado":6,"mensaje":"No se encontraron datos relacionados"}"#;
        check(400, none, Ok(None));
        check(200, none, Ok(None));
        check(404, none, Err("unknown"));
        check(500, none, Err("unknown"));
        check(400, r#"{"estado":2,"mensaje":"{claveRastreo=...}"}"#, Err("unknown"));
        check(200, r#"{"estado":0,"mensaje":"..."}"#, Err("unknown"));
        check(200, "", Err("unknown"));
        // By position.
        check(200, r#"[0,["CUENCA0000192923","LQ",10.90]]"#, Err("unknown"));
    }

    #[test]
    fn an_answer_about_another_order_is_an_error() {
        check(200, &order("LQ", "null").replace("192923", "192924"), Err("unknown"));
        check(400, &order("LQ", "null"), Ok(Some(PaymentStatus::Settled)));
    }
}
