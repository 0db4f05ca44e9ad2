//! The STP rail against a stub over HTTP: what it sends, field by field, and how it treats replies that are right,
//! wrong, late or missing.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use caudal::clock::Clock;
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::rail::stp::{Form, INSTITUTION, Settings, SettingsError, Stp};
use caudal::rail::{Payment, PaymentStatus, Rail, RailError};
use jsonwebtoken::{Algorithm, DecodingKey, crypto::verify};
use rsa::RsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey, LineEnding};
use rsa::traits::PublicKeyParts;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::{date, datetime};
use uuid::Uuid;

use crate::stub::{Act, Request, Stub};

/// Generated for this run: a key in a file would look like a leaked one.
static KEY: LazyLock<RsaPrivateKey> = LazyLock::new(|| RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap());

/// A Saturday, so the operating date is Monday, 23 November.
const MADE_AT: OffsetDateTime = datetime!(2026-11-21 12:00 UTC);

/// In the order of the signature, as STP documents it.
const FIELDS: [&str; 37] = [
    "institucionContraparte",
    "empresa",
    "fechaOperacion",
    "folioOrigen",
    "claveRastreo",
    "institucionOperante",
    "monto",
    "tipoPago",
    "tipoCuentaOrdenante",
    "nombreOrdenante",
    "cuentaOrdenante",
    "rfcCurpOrdenante",
    "tipoCuentaBeneficiario",
    "nombreBeneficiario",
    "cuentaBeneficiario",
    "rfcCurpBeneficiario",
    "emailBeneficiario",
    "tipoCuentaBeneficiario2",
    "nombreBeneficiario2",
    "cuentaBeneficiario2",
    "rfcCurpBeneficiario2",
    "conceptoPago",
    "conceptoPago2",
    "claveCatUsuario1",
    "claveCatUsuario2",
    "clavePago",
    "referenciaCobranza",
    "referenciaNumerica",
    "tipoOperacion",
    "topologia",
    "usuario",
    "medioEntrega",
    "prioridad",
    "iva",
    "nombreParticipanteIndirecto",
    "cuentaParticipanteIndirecto",
    "rfcParticipanteIndirecto",
];

/// The older form lacks the indirect participant.
const OLDER_FIELDS: usize = 34;

fn settings(url: &str) -> Settings {
    Settings {
        url: url.to_owned(),
        company: "CAUDAL".to_owned(),
        account: "646180110400000007".to_owned(),
        institution: INSTITUTION,
        form: Form::Current,
        indirect: None,
        key_pem: KEY.to_pkcs8_pem(LineEnding::LF).unwrap().as_bytes().to_vec(),
    }
}

pub(crate) fn rail(url: &str) -> Stp {
    Stp::new(settings(url)).unwrap().with_clock(Clock::fixed(MADE_AT))
}

fn payment() -> Payment {
    Payment {
        transfer_id: Uuid::from_u128(41),
        tracking_key: "CAUD202611210000000000000000ZZ".into(),
        amount: Money::from_minor(849_950),
        created_at: MADE_AT,
        operating_date: date!(2026 - 11 - 23),
        sender_number: None,
        sender_name: Some("Ana María".into()),
        payee_name: "José Ñ|Z".into(),
        payee_number: "012660015490725198".into(),
        payee_bank: "BBVA".into(),
        remittance: Remittance::NONE,
    }
}

/// A JSON value as it is signed; amounts have two decimals.
fn text(name: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if name == "monto" => format!("{:.2}", number.as_f64().unwrap()),
        other => other.to_string(),
    }
}

/// Whether the signature matches the body's fields.
pub(crate) fn is_signed(body: &Value, fields: &[&str]) -> bool {
    let values: Vec<_> = fields.iter().map(|name| text(name, &body[*name])).collect();
    let message = format!("||{}||", values.join("|"));
    let public = DecodingKey::from_rsa_raw_components(&KEY.n().to_bytes_be(), &KEY.e().to_bytes_be());
    let signature = body["firma"].as_str().unwrap().replace('+', "-").replace('/', "_").replace('=', "");
    verify(&signature, message.as_bytes(), &public, Algorithm::RS256).unwrap()
}

/// An STP that accepts an order once and finds it afterwards.
fn stp() -> impl Fn(&Request) -> Act + Send + Sync {
    let orders = Mutex::new(HashMap::<String, Value>::new());
    move |request| {
        let body = &request.body;
        let key = body["claveRastreo"].as_str().unwrap().to_owned();
        let mut orders = orders.lock().unwrap();
        match request.target.as_str() {
            "PUT /speiws/rest/ordenPago/registra" => {
                assert!(is_signed(body, &FIELDS));
                let error = json!({ "resultado": { "id": -1, "descripcionError": "ya fue utilizada" } });
                let fresh = json!({ "resultado": { "id": 21_787_172 + orders.len() } });
                let answer = if orders.insert(key, body.clone()).is_some() { error } else { fresh };
                Act::Reply(200, answer.to_string())
            }
            "POST /efws/API/consultaOrden" => {
                assert!(is_signed(body, &["empresa", "claveRastreo", "tipoOrden", "fechaOperacion"]));
                let Some(order) = orders.get(&key) else {
                    return Act::Reply(400, json!({ "estado": 6, "mensaje": "No se encontraron datos" }).to_string());
                };
                let found = json!({ "idEF": 21_787_172, "claveRastreo": key, "estado": "LQ", "monto": order["monto"],
                    "causaDevolucion": null, "tsLiquidacion": 1_795_000_000_000_i64 });
                Act::Reply(200, json!({ "estado": 0, "mensaje": "bien", "respuesta": found }).to_string())
            }
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn an_order_has_every_field_and_a_valid_signature() {
    let stub = Stub::start(stp()).await;
    assert_eq!(rail(&stub.url).send(&payment()).await.unwrap(), PaymentStatus::Accepted);
    let [request] = &stub.seen()[..] else { panic!("{:?}", stub.seen()) };
    assert!(request.headers.contains("content-type: application/json\r\n"), "{}", request.headers);
    let mut body = request.body.clone();
    body.as_object_mut().unwrap().remove("firma");
    let want = json!({
        "institucionContraparte": "40012",
        "empresa": "CAUDAL",
        "fechaOperacion": "20261123",
        "folioOrigen": "CAUD202611210000000000000000ZZ",
        "claveRastreo": "CAUD202611210000000000000000ZZ",
        "institucionOperante": "90646",
        "monto": 8499.50,
        "tipoPago": 1,
        "tipoCuentaOrdenante": 40,
        "nombreOrdenante": "Ana Maria",
        "cuentaOrdenante": "646180110400000007",
        "rfcCurpOrdenante": "ND",
        "tipoCuentaBeneficiario": 40,
        "nombreBeneficiario": "Jose N Z",
        "cuentaBeneficiario": "012660015490725198",
        "rfcCurpBeneficiario": "ND",
        "conceptoPago": "Transferencia",
        "referenciaNumerica": 42,
        "topologia": "T",
        "medioEntrega": 3,
        "prioridad": 0,
    });
    assert_eq!(body, want);
}

#[tokio::test]
async fn either_form_is_signed_and_an_indirect_participant_is_named() {
    let stub = Stub::start(|_| Act::Reply(200, json!({ "resultado": { "id": 7 } }).to_string())).await;
    let indirect = ["AMU", "646180157099999993", "WDCT680526LI0"].map(str::to_owned);
    let older = Settings { form: Form::Older, ..settings(&stub.url) };
    let indirect = Settings { indirect: Some(indirect), ..settings(&stub.url) };
    for (settings, fields) in [(older, &FIELDS[..OLDER_FIELDS]), (indirect, &FIELDS[..])] {
        Stp::new(settings).unwrap().with_clock(Clock::fixed(MADE_AT)).send(&payment()).await.unwrap();
        assert!(is_signed(&stub.seen().pop().unwrap().body, fields));
    }
    let [older, indirect] = &stub.seen()[..] else { panic!("{:?}", stub.seen()) };
    assert_eq!((&older.body["prioridad"], older.body.get("rfcParticipanteIndirecto")), (&json!(1), None));
    assert_eq!(indirect.body["nombreParticipanteIndirecto"], "AMU");
    assert_eq!(indirect.body["cuentaParticipanteIndirecto"], "646180157099999993");
}

#[tokio::test]
async fn an_order_is_accepted_once_and_found_afterwards() {
    let stub = Stub::start(stp()).await;
    let rail = rail(&stub.url);
    assert_eq!(rail.find(&payment()).await.unwrap(), None);
    assert_eq!(rail.send(&payment()).await.unwrap(), PaymentStatus::Accepted);
    assert_eq!(rail.send(&payment()).await.unwrap(), PaymentStatus::Accepted);
    assert_eq!(rail.find(&payment()).await.unwrap(), Some(PaymentStatus::Settled));
    let seen = stub.seen();
    assert_eq!(seen[1].body, seen[2].body, "the same payment is the same order");
    assert_eq!(seen[3].body.get("fechaOperacion"), None, "blank for the present operating date");
    let later = self::rail(&stub.url).with_clock(Clock::fixed(datetime!(2026-11-24 00:00 UTC)));
    assert_eq!(later.find(&payment()).await.unwrap(), Some(PaymentStatus::Settled));
    assert_eq!(stub.seen()[4].body["fechaOperacion"], "20261123");
}

#[tokio::test]
async fn unsendable_payments_are_not_sent() {
    let stub = Stub::start(stp()).await;
    for (number, reason) in [("ABC-1", "17"), ("012660015490725197", "01")] {
        let payment = Payment { payee_number: number.into(), ..payment() };
        assert_eq!(
            rail(&stub.url).send(&payment).await.unwrap(),
            PaymentStatus::Rejected(Some(reason.into())),
            "{number}"
        );
    }
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn a_permanent_refusal_is_a_rejection() {
    for (id, reason) in [(-7, Some("01")), (-9, None), (-11, Some("17")), (-20, None), (-22, Some("06")), (-200, None)]
    {
        let answer = json!({ "resultado": { "id": id, "descripcionError": "no" } }).to_string();
        let stub = Stub::start(move |_| Act::Reply(200, answer.clone())).await;
        let want = PaymentStatus::Rejected(reason.map(str::to_owned));
        assert_eq!(rail(&stub.url).send(&payment()).await.unwrap(), want, "{id}");
    }
}

/// Sends and inquires while the server misbehaves: both outcomes are unknown, and nothing is retried.
async fn assert_unknown(act: Act) {
    let name = format!("{:.80}", format!("{act:?}"));
    let stub = Stub::start(move |_| act.clone()).await;
    let rail = rail(&stub.url).with_timeout(Duration::from_millis(300));
    let sent = rail.send(&payment()).await;
    assert!(matches!(sent, Err(RailError::Unknown(_))), "{name}: {sent:?}");
    let found = rail.find(&payment()).await;
    assert!(matches!(found, Err(RailError::Unknown(_))), "{name}: {found:?}");
    assert_eq!(stub.seen().len(), 2, "{name}: {:?}", stub.seen());
}

#[tokio::test]
async fn a_missing_or_late_reply_leaves_the_status_unknown() {
    let late = Act::Late(Duration::from_millis(900), 200, json!({ "resultado": { "id": 1 } }).to_string());
    for act in
        [late, Act::Close, Act::Hang, Act::Bytes("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"resultado\"".into())]
    {
        assert_unknown(act).await;
    }
}

#[tokio::test]
async fn an_unintelligible_reply_leaves_the_status_unknown() {
    let taken = json!({ "resultado": { "id": 1 }, "estado": 6 }).to_string();
    let long = format!("{{\"resultado\":{{\"id\":1}},\"estado\":6,\"mensaje\":\"{}\"}}", "a".repeat(65_536));
    for (status, body) in [
        (500, taken.clone()),
        (503, String::new()),
        (401, taken.clone()),
        (200, "{\"resultado\":".to_owned()),
        (200, "<html>mantenimiento</html>".to_owned()),
        (200, json!({ "resultado": { "id": 0, "descripcionError": "Error validando la firma" } }).to_string()),
        (200, json!({ "resultado": { "id": 9_999_999, "descripcionError": "?" } }).to_string()),
        (200, long),
    ] {
        assert_unknown(Act::Reply(status, body)).await;
    }
    assert_unknown(Act::Bytes("SSH-2.0-OpenSSH\r\n".into())).await;
    // Chunked, so that the length is not known in advance.
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(65_536));
    let endless = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(4));
    assert_unknown(Act::Bytes(endless)).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Stub::start(stp()).await;
    for status in [301, 302, 307, 308] {
        let answer = format!("HTTP/1.1 {status} X\r\nLocation: {}/\r\nContent-Length: 0\r\n\r\n", elsewhere.url);
        assert_unknown(Act::Bytes(answer)).await;
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_failure_to_connect_means_that_nothing_was_sent() {
    let stub = Stub::start(stp()).await;
    let url = stub.url.clone();
    // The server accepts the connection and never speaks TLS: the timeout for connecting ends it.
    let secure = rail(&url.replace("http:", "https:"));
    assert!(matches!(secure.send(&payment()).await, Err(RailError::Unreachable(_))));
    assert!(stub.seen().is_empty());
    drop(stub);
    let refused = rail(&url);
    assert!(matches!(refused.send(&payment()).await, Err(RailError::Unreachable(_))));
    assert!(matches!(refused.find(&payment()).await, Err(RailError::Unreachable(_))));
}

#[tokio::test]
async fn a_connection_that_closed_while_idle_is_replaced() {
    let taken = json!({ "resultado": { "id": 1 } }).to_string();
    let stub = Stub::start(move |_| {
        // Keep-alive is announced, and the connection closed.
        let length = taken.len();
        Act::Bytes(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{taken}"))
    })
    .await;
    let rail = rail(&stub.url);
    for _ in 0..3 {
        assert_eq!(rail.send(&payment()).await.unwrap(), PaymentStatus::Accepted);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(stub.seen().len(), 3);
}

#[tokio::test]
async fn an_order_lost_on_a_reused_connection_is_not_sent_again() {
    let orders = Mutex::new(0);
    let stub = Stub::start(move |_| {
        let mut orders = orders.lock().unwrap();
        *orders += 1;
        if *orders == 1 { Act::Reply(200, json!({ "resultado": { "id": 1 } }).to_string()) } else { Act::Close }
    })
    .await;
    let rail = rail(&stub.url);
    assert_eq!(rail.send(&payment()).await.unwrap(), PaymentStatus::Accepted);
    // Let the connection return to the pool.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(matches!(rail.send(&payment()).await, Err(RailError::Unknown(_))));
    assert_eq!((stub.seen().len(), stub.connections()), (2, 1));
}

#[test]
fn settings_are_checked() {
    type Change = fn(&mut Settings);
    let cases: [(Change, &str); 8] = [
        (|it| it.url = "http://prod.stpmex.com".into(), "Url"),
        (|it| it.company = "CAUDAL|X".into(), "Company"),
        (|it| it.account = "646180110400000008".into(), "Account"),
        (|it| it.institution = 646, "Institution"),
        (|it| it.indirect = Some(["A|B", "646180157099999993", "WDCT680526LI0"].map(str::to_owned)), "Indirect"),
        (|it| it.indirect = Some(["AMU", "646180157099999990", "WDCT680526LI0"].map(str::to_owned)), "Indirect"),
        (
            |it| {
                it.indirect = Some(["AMU", "646180157099999993", "WDCT680526LI0"].map(str::to_owned));
                it.form = Form::Older;
            },
            "Indirect",
        ),
        (|it| it.key_pem = b"-----BEGIN RSA PRIVATE KEY-----".to_vec(), "Key"),
    ];
    for (change, want) in cases {
        let mut settings = settings("http://127.0.0.1:1");
        change(&mut settings);
        let error: SettingsError = Stp::new(settings).err().unwrap();
        assert!(format!("{error:?}").starts_with(want), "{error:?}");
    }
}
