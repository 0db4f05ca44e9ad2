//! Orders to this bank at STP: inquiries, lists and returns, field by field.

use caudal::domain::money::Money;
use caudal::rail::{Direction, IncomingStatus, Line, OrderKey, PaymentStatus, Rail as _, RailError};
use serde_json::{Value, json};
use time::macros::date;

use crate::stp::{is_signed, rail};
use crate::stub::{Act, Stub};

fn key() -> OrderKey {
    OrderKey { tracking_key: "BBVA0001".to_owned(), operating_date: date!(2026 - 11 - 20), institution: 40_012 }
}

fn order(key: &str, amount: &str) -> Value {
    json!({ "claveRastreo": key, "estado": "CCO", "empresa": "CAUDAL", "fechaOperacion": 20_261_120,
        "institucionContraparte": 40_012, "monto": serde_json::from_str::<Value>(amount).unwrap(),
        "nombreOrdenante": "JORGE", "cuentaOrdenante": "012180001234567897", "cuentaBeneficiario": "646180110400000007",
        "conceptoPago": "Renta", "referenciaNumerica": 7, "causaDevolucion": null })
}

#[tokio::test]
async fn an_order_is_found_and_sent_back() {
    let stub = Stub::start(|request| {
        let reply = match request.target.as_str() {
            "POST /efws/API/consultaOrden" => json!({ "estado": 0, "respuesta": order("BBVA0001", "100.5") }),
            "PUT /speiws/rest/ordenPago/retornaOrden" => json!({ "resultado": { "id": 7 } }),
            other => panic!("{other}"),
        };
        Act::Reply(200, reply.to_string())
    })
    .await;
    let rail = rail(&stub.url);
    let found = rail.find_incoming(&key()).await.unwrap().unwrap();
    assert_eq!((found.order.amount, found.status), (Money::from_minor(10_050), IncomingStatus::Received));
    assert_eq!((found.order.key(), found.order.payer_name.as_deref()), (key(), Some("JORGE")));
    assert_eq!(rail.return_order(&found.order, "01").await.unwrap(), PaymentStatus::Accepted);
    let [inquiry, sent_back] = &stub.seen()[..] else { panic!("{:?}", stub.seen()) };
    assert_eq!((&inquiry.body["tipoOrden"], &inquiry.body["fechaOperacion"]), (&json!("R"), &json!("20261120")));
    assert!(is_signed(&inquiry.body, &["empresa", "claveRastreo", "tipoOrden", "fechaOperacion"]));
    let mut body = sent_back.body.clone();
    let fields = [
        "fechaOperacion",
        "institucionOperante",
        "claveRastreo",
        "monto",
        "digitoIdentificadorBeneficiario",
        "claveRastreoDevolucion",
        "medioEntrega",
    ];
    assert!(is_signed(&body, &fields));
    let return_key = body["claveRastreoDevolucion"].as_str().unwrap().to_owned();
    assert!(return_key.starts_with("CAUDR") && return_key.len() == 30, "{return_key}");
    ["firma", "claveRastreoDevolucion"].iter().for_each(|name| drop(body.as_object_mut().unwrap().remove(*name)));
    let want = json!({ "fechaOperacion": 20_261_120, "institucionOperante": 90_646, "claveRastreo": "BBVA0001",
        "empresa": "CAUDAL", "monto": 100.5, "digitoIdentificadorBeneficiario": "2", "medioEntrega": "3" });
    assert_eq!(body, want);
}

/// Under a notice's date, the order would be entered a second time.
#[tokio::test]
async fn the_date_of_an_order_is_never_that_of_its_notice() {
    let stub = Stub::start(|_| {
        let mut order = order("BBVA0001", "1");
        order["fechaOperacion"] = Value::Null;
        Act::Reply(200, json!({ "estado": 0, "respuesta": order }).to_string())
    })
    .await;
    let rail = rail(&stub.url);
    // STP is asked about a past day by its date, and about the present one without.
    assert_eq!(rail.find_incoming(&key()).await.unwrap().unwrap().order.key(), key());
    let today = OrderKey { operating_date: date!(2026 - 11 - 23), ..key() };
    let found = rail.find_incoming(&today).await;
    assert!(matches!(found, Err(RailError::Undecided(_))), "{found:?}");
}

#[tokio::test]
async fn a_list_has_pages_and_what_is_unclear_is_named() {
    let stub = Stub::start(|request| {
        assert!(is_signed(&request.body, &["empresa", "tipoOrden", "fechaOperacion"]));
        let page = request.body["page"].as_u64().unwrap();
        let mut unclear = order("BBVA0003", "1");
        unclear["estado"] = json!("CCR");
        let lines = match page {
            0 => vec![order("BBVA0001", "1"), order("BBVA0002", "0.001")],
            1 => vec![unclear],
            _ => return Act::Reply(400, json!({ "estado": 6, "mensaje": "No hay datos" }).to_string()),
        };
        Act::Reply(200, json!({ "estado": 0, "total": 3, "datos": lines }).to_string())
    })
    .await;
    let (rail, mut keys, mut page) = (rail(&stub.url), Vec::new(), 0);
    loop {
        let read = rail.list(date!(2026 - 11 - 20), Direction::Received, page).await.unwrap();
        keys.extend(read.lines.into_iter().map(|line| match line {
            Line::Received(incoming) => (incoming.order.tracking_key, true),
            Line::Unclear { tracking_key } => (tracking_key, false),
            Line::Sent { .. } => panic!("nothing was sent"),
        }));
        if read.is_last {
            break;
        }
        page += 1;
    }
    let want = [("BBVA0001", true), ("BBVA0002", false), ("BBVA0003", false)];
    assert_eq!(keys, want.map(|(key, is_clear)| (key.to_owned(), is_clear)));
}

#[tokio::test]
async fn a_list_that_is_not_understood_is_unknown() {
    for body in [r#"{"estado":3}"#, r#"{"estado":6,"datos":[{}]}"#, r#"{"estado":0,"datos":[[1]]}"#, "[]", "<html>"] {
        let stub = Stub::start(move |_| Act::Reply(200, body.to_owned())).await;
        let read = rail(&stub.url).list(date!(2026 - 11 - 20), Direction::Received, 0).await;
        assert!(matches!(read, Err(RailError::Unknown(_))), "{body}: {read:?}");
    }
}
