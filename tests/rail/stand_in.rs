//! A stand-in for STP that keeps orders, those of the bank and those of other banks to it, and misbehaves on request.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stub::{Act, Request, Stub};

pub(crate) const REGISTER: &str = "PUT /speiws/rest/ordenPago/registra";
pub(crate) const INQUIRE: &str = "POST /efws/API/consultaOrden";
pub(crate) const RETURN: &str = "PUT /speiws/rest/ordenPago/retornaOrden";
pub(crate) const LIST: &str = "POST /efws/API/V2/conciliacion";

/// Orders in a page of a list.
const PAGE_LENGTH: usize = 300;

/// Larger than any reply that the host reads.
const OVERSIZED: usize = 70_000;

/// What it does wrong.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Does what it is asked for, and closes the connection.
    LostReply,
    /// Does it, and replies after this time.
    Late(Duration),
    /// Does nothing, and replies with this error.
    Code(i64),
    /// Does nothing, and replies with a page for people.
    Html,
    /// Does nothing, and replies at length.
    Oversized,
}

#[derive(Debug, Clone)]
struct Order {
    /// In JSON, as it is replied.
    amount: String,
    company: Value,
    sender: Value,
    payee_name: Value,
    payee: Value,
    state: String,
    cause: Value,
}

impl Order {
    fn to_json(&self, (tracking_key, date): &(String, String)) -> String {
        let Self { amount, company, sender, payee_name, payee, state, cause } = self;
        format!(
            r#"{{"claveRastreo":"{tracking_key}","estado":"{state}","empresa":{company},"fechaOperacion":{date},
            "cuentaOrdenante":{sender},"nombreBeneficiario":{payee_name},"cuentaBeneficiario":{payee},
            "monto":{amount},"causaDevolucion":{cause},"tsLiquidacion":null}}"#
        )
    }
}

/// An order of another bank to this one, on the present day.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    pub(crate) tracking_key: String,
    pub(crate) institution: u32,
    /// In JSON, as it is replied.
    pub(crate) amount: String,
    pub(crate) payer: String,
    pub(crate) payee: String,
    pub(crate) state: String,
    pub(crate) cause: Value,
}

impl Incoming {
    /// As STP lists it.
    fn to_json(&self, date: &str) -> String {
        let Self { tracking_key, institution, amount, payer, payee, state, cause } = self;
        format!(
            r#"{{"claveRastreo":"{tracking_key}","estado":"{state}","empresa":"CAUDAL","fechaOperacion":{date},
            "institucionContraparte":{institution},"institucionOperante":90646,"monto":{amount},
            "nombreOrdenante":"JORGE RUIZ","cuentaOrdenante":"{payer}","nombreBeneficiario":"ANA",
            "cuentaBeneficiario":"{payee}","conceptoPago":"Renta","referenciaNumerica":7,"causaDevolucion":{cause}}}"#
        )
    }
}

#[derive(Default)]
struct Desk {
    /// The operating date, as in `20261123`.
    today: String,
    follows_orders: bool,
    /// By tracking key and operating date.
    orders: BTreeMap<(String, String), Order>,
    /// Of other banks, likewise.
    incoming: BTreeMap<(String, String), Incoming>,
    registering: Option<Fault>,
    inquiring: Option<Fault>,
}

pub(crate) struct StandIn {
    pub(crate) stub: Stub,
    desk: Arc<Mutex<Desk>>,
}

impl StandIn {
    /// The operating date is one such as `20261123`.
    pub(crate) async fn start(today: &str) -> Self {
        let desk = Arc::new(Mutex::new(Desk { today: today.to_owned(), ..Desk::default() }));
        let behind = desk.clone();
        let stub = Stub::start(move |request| {
            let mut desk = behind.lock().unwrap_or_else(PoisonError::into_inner);
            match request.target.as_str() {
                REGISTER => desk.register(&request.body),
                INQUIRE => desk.inquire(&request.body),
                RETURN => desk.send_back(&request.body),
                LIST => desk.list(&request.body),
                other => panic!("{other}"),
            }
        });
        Self { stub: stub.await, desk }
    }

    fn desk(&self) -> std::sync::MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin_day(&self, today: &str) {
        self.desk().today = today.to_owned();
    }

    /// Takes the operating date of each order for today's, for hosts whose clock is not fixed.
    pub(crate) fn follow_orders(&self) {
        self.desk().follows_orders = true;
    }

    /// What goes wrong with each order from now on.
    pub(crate) fn fail_registering(&self, fault: Option<Fault>) {
        self.desk().registering = fault;
    }

    /// What goes wrong with each inquiry from now on.
    pub(crate) fn fail_inquiring(&self, fault: Option<Fault>) {
        self.desk().inquiring = fault;
    }

    /// Changes the state of every order.
    pub(crate) fn set_state(&self, state: &str, cause: Value) {
        for order in self.desk().orders.values_mut() {
            (order.state, order.cause) = (state.to_owned(), cause.clone());
        }
    }

    /// Changes the payee's account of every order.
    pub(crate) fn set_payee(&self, account: &str) {
        self.desk().orders.values_mut().for_each(|order| order.payee = account.into());
    }

    /// Changes the amount of every order.
    pub(crate) fn set_amount(&self, amount: &str) {
        self.desk().orders.values_mut().for_each(|order| order.amount = amount.to_owned());
    }

    /// Has an order of this bank, to BBVA, which nobody sent in this test.
    pub(crate) fn keep(&self, tracking_key: &str, amount: &str, sender: &str, state: &str) {
        let order = Order {
            amount: amount.to_owned(),
            company: json!("CAUDAL"),
            sender: json!(sender),
            payee_name: json!("LUIS"),
            payee: json!("012180004643051249"),
            state: state.to_owned(),
            cause: Value::Null,
        };
        let mut desk = self.desk();
        let key = (tracking_key.to_owned(), desk.today.clone());
        desk.orders.insert(key, order);
    }

    /// Takes an order of another bank.
    pub(crate) fn receive(&self, order: Incoming) {
        let mut desk = self.desk();
        let key = (order.tracking_key.clone(), desk.today.clone());
        desk.incoming.insert(key, order);
    }

    /// Tracking key and operating date of each order.
    pub(crate) fn orders(&self) -> Vec<(String, String)> {
        self.desk().orders.keys().cloned().collect()
    }

    /// The requests so far that have this target.
    pub(crate) fn requests(&self, target: &str) -> Vec<Request> {
        self.stub.seen().into_iter().filter(|request| request.target == target).collect()
    }
}

impl Desk {
    fn register(&mut self, body: &Value) -> Act {
        match &self.registering {
            Some(Fault::Code(id)) => return Act::Reply(200, refusal(*id)),
            Some(Fault::Html) => return html(),
            Some(Fault::Oversized) => return oversized(),
            _ => {}
        }
        let key = (text(&body["claveRastreo"]), text(&body["fechaOperacion"]));
        if self.follows_orders {
            self.today.clone_from(&key.1);
        }
        let id = 21_787_172 + self.orders.len();
        let reply = match self.orders.entry(key) {
            Entry::Occupied(_) => refusal(-1),
            Entry::Vacant(place) => {
                let amount = format!("{:.2}", body["monto"].as_f64().unwrap());
                place.insert(Order {
                    amount,
                    company: body["empresa"].clone(),
                    sender: body["cuentaOrdenante"].clone(),
                    payee_name: body["nombreBeneficiario"].clone(),
                    payee: body["cuentaBeneficiario"].clone(),
                    state: "A".to_owned(),
                    cause: Value::Null,
                });
                json!({ "resultado": { "id": id } }).to_string()
            }
        };
        reply_with(self.registering.as_ref(), 200, reply)
    }

    fn send_back(&mut self, body: &Value) -> Act {
        if let Some(Fault::Code(id)) = &self.registering {
            return Act::Reply(200, refusal(*id));
        }
        let key = (text(&body["claveRastreo"]), body["fechaOperacion"].to_string());
        let reply = match self.incoming.get_mut(&key) {
            Some(order) if order.state == "LQ" => {
                (order.state, order.cause) = ("RE".to_owned(), json!(1));
                json!({ "resultado": { "id": 21_787_172 } }).to_string()
            }
            _ => refusal(-1),
        };
        reply_with(self.registering.as_ref(), 200, reply)
    }

    fn list(&self, body: &Value) -> Act {
        let date = body["fechaOperacion"].as_str().unwrap_or(&self.today);
        let page = usize::try_from(body["page"].as_u64().unwrap()).unwrap();
        let incoming = self.incoming.iter().filter(|((_, day), _)| day == date);
        let orders = self.orders.iter().filter(|((_, day), _)| day == date);
        let (skip, take) = (page * PAGE_LENGTH, PAGE_LENGTH);
        let (total, lines): (_, Vec<String>) = if body["tipoOrden"] == "R" {
            let lines = incoming.clone().skip(skip).take(take).map(|(_, order)| order.to_json(date)).collect();
            (incoming.count(), lines)
        } else {
            let lines = orders.clone().skip(skip).take(take).map(|(key, order)| order.to_json(key)).collect();
            (orders.count(), lines)
        };
        if lines.is_empty() {
            return Act::Reply(400, json!({ "estado": 6, "mensaje": "No se encontraron datos" }).to_string());
        }
        let reply = format!(r#"{{"estado":0,"mensaje":"bien","total":{total},"datos":[{}]}}"#, lines.join(","));
        reply_with(self.inquiring.as_ref(), 200, reply)
    }

    fn inquire(&self, body: &Value) -> Act {
        let date = body["fechaOperacion"].as_str().unwrap_or(&self.today);
        let key = (text(&body["claveRastreo"]), date.to_owned());
        match &self.inquiring {
            Some(Fault::Code(estado)) => {
                return Act::Reply(400, json!({ "estado": estado, "mensaje": "no" }).to_string());
            }
            Some(Fault::Html) => return html(),
            Some(Fault::Oversized) => return oversized(),
            _ => {}
        }
        let order = match body["tipoOrden"].as_str() {
            Some("R") => self.incoming.get(&key).map(|order| order.to_json(&key.1)),
            _ => self.orders.get(&key).map(|order| order.to_json(&key)),
        };
        let (status, reply) = match order {
            Some(order) => (200, format!(r#"{{"estado":0,"mensaje":"bien","respuesta":{order}}}"#)),
            None => (400, json!({ "estado": 6, "mensaje": "No se encontraron datos" }).to_string()),
        };
        reply_with(self.inquiring.as_ref(), status, reply)
    }
}

fn reply_with(fault: Option<&Fault>, status: u16, reply: String) -> Act {
    match fault {
        Some(Fault::LostReply) => Act::Close,
        Some(Fault::Late(after)) => Act::Late(*after, status, reply),
        _ => Act::Reply(status, reply),
    }
}

fn refusal(id: i64) -> String {
    json!({ "resultado": { "id": id, "descripcionError": "no" } }).to_string()
}

fn html() -> Act {
    Act::Reply(200, "<html>mantenimiento</html>".to_owned())
}

fn oversized() -> Act {
    Act::Reply(200, json!({ "resultado": { "id": 7 }, "estado": 6, "mensaje": "a".repeat(OVERSIZED) }).to_string())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
