//! What STP answers, and what claims to come from it.

use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::rail::stp::{found, registered, tracking_key_of};
use caudal::rail::{Payment, PaymentStatus, RailError};
use serde_json::Value;
use time::macros::{date, datetime};
use uuid::Uuid;

use crate::{ACCEPTED, Outcome, Target, none, refused};

pub(crate) const ANSWERS: Target = Target {
    name: "stp-answers",
    run: answer,
    words: &[
        b"\"estado\":",
        b"\"respuesta\":",
        b"\"monto\":",
        b"\"empresa\":\"CAUDAL\"",
        b"\"cuentaBeneficiario\":",
        b"\"claveRastreo\":\"CAUDAL1\"",
        b"\"LQ\"",
        b"\"D\"",
        b"\"CN\"",
        b"\"RB\"",
        b"\"causaDevolucion\":",
        b"\"resultado\":",
        b"\"id\":",
        b"\"descripcionError\":\"",
        b"-7",
        b"-1",
        b"1500.50",
        b"1500.5",
        b"null",
    ],
    bytes_max: 2_000,
    seeds: none,
};

pub(crate) const NOTICES: Target = Target {
    name: "notices",
    run: notice,
    words: &[b"\"claveRastreo\":\"", b"\"folioOrigen\":\"", b"CAUDAL1", b"\\u0041", b"null", b" ", b"[", b"{}"],
    bytes_max: 20_000,
    seeds: none,
};

/// STP's states, as its documentation says, by what each means for a payment.
const STATES: [(&str, &[&str]); 4] = [
    ("Accepted", &["C", "L", "A", "E", "PL", "PA", "EA", "TC", "TL", "TA", "XC", "XD"]),
    ("Settled", &["LQ", "TLQ", "LIQUIDACION"]),
    ("Rejected", &["CN", "CA", "TCL", "CANCELACION"]),
    ("Returned", &["D", "DEVOLUCION"]),
];

/// Errors of `registra` that refuse an order for good.
const REFUSALS: [i64; 8] = [-7, -9, -11, -20, -22, -24, -34, -200];

fn payment() -> Payment {
    Payment {
        transfer_id: Uuid::from_u128(1),
        tracking_key: "CAUDAL1".to_owned(),
        amount: Money::from_minor(150_050),
        created_at: datetime!(2026-11-21 18:00 UTC),
        operating_date: date!(2026 - 11 - 23),
        sender_number: None,
        sender_name: None,
        payee_name: "Luis".to_owned(),
        payee_number: "012180004643051249".to_owned(),
        payee_bank: "BBVA".to_owned(),
        remittance: Remittance::NONE,
    }
}

/// Texts that nobody reads need not be UTF-8: older systems of banks write Latin-1.
fn lenient(json: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_str(&String::from_utf8_lossy(json))
}

fn name(status: &PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Accepted => "Accepted",
        PaymentStatus::Settled => "Settled",
        PaymentStatus::Rejected(_) => "Rejected",
        PaymentStatus::Returned(_) => "Returned",
    }
}

fn error_name(error: &RailError) -> &'static str {
    match error {
        RailError::Unreachable(_) => panic!("an answer came: {error}"),
        RailError::Unknown(_) => "unknown",
        RailError::Undecided(_) => "undecided",
    }
}

/// The first byte chooses the status, the others are the body.
fn answer(bytes: &[u8]) -> Outcome {
    let Some((choice, body)) = bytes.split_first() else { return "nothing".into() };
    let status = *[200, 400, 202, 500, 99, 1000].get(usize::from(*choice % 16)).unwrap_or(&200);
    let (found, registered) = (found(status, body.to_vec(), &payment(), "CAUDAL"), registered(status, body.to_vec()));
    // Numbers beyond all range, where nobody reads them.
    let Ok(json) = lenient(body) else { return "with parts that are not read".into() };
    let reason_has_digits = |reason: &Option<String>| {
        assert!(reason.as_ref().is_none_or(|it| it.len() == 2 && it.bytes().all(|byte| byte.is_ascii_digit())));
    };
    let inquiry = match found {
        Ok(Some(meaning)) => {
            let order = &json["respuesta"];
            let states = STATES.iter().find(|(it, _)| *it == name(&meaning)).unwrap().1;
            assert!(states.contains(&order["estado"].as_str().unwrap().trim_end()), "{meaning:?}: {json}");
            assert_eq!(order["claveRastreo"].as_str().unwrap().trim_end(), "CAUDAL1");
            assert_eq!(order["monto"].as_f64(), Some(1500.5), "{json}");
            if let PaymentStatus::Rejected(reason) | PaymentStatus::Returned(reason) = &meaning {
                reason_has_digits(reason);
            }
            name(&meaning)
        }
        Ok(None) => "none",
        Err(error) => error_name(&error),
    };
    let registration = match registered {
        Ok(meaning) => {
            assert_eq!(status, 200);
            let id = json["resultado"]["id"].as_i64().unwrap();
            match &meaning {
                PaymentStatus::Accepted => assert!(id > 0 || id == -1, "{json}"),
                PaymentStatus::Rejected(reason) => {
                    reason_has_digits(reason);
                    assert!(REFUSALS.contains(&id), "{json}");
                }
                other => panic!("an order is {other:?} before it is accepted: {json}"),
            }
            name(&meaning)
        }
        Err(error) => error_name(&error),
    };
    let is_certain = ["unknown", "undecided"].iter().all(|it| inquiry != *it) || registration == "Accepted";
    format!("{}{inquiry}, {registration}", if is_certain { "accepted: " } else { "" }).into()
}

/// A key that is accepted is one that this bank can have made, and is in the notice.
fn notice(bytes: &[u8]) -> Outcome {
    let key = match tracking_key_of(bytes) {
        Ok(key) => key,
        Err(error) => return refused(&std::mem::discriminant(&error)),
    };
    assert!((1..=30).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key:?}");
    let Ok(json) = lenient(bytes) else { return "accepted, with parts that are not read".into() };
    let names = ["claveRastreo", "folioOrigen"];
    assert!(names.iter().any(|name| json[name].as_str().is_some_and(|it| it.trim() == key)), "{json}");
    ACCEPTED
}
