//! A stand-in for STP that keeps orders, and misbehaves on request.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stub::{Act, Request, Stub};

pub(crate) const REGISTER: &str = "PUT /speiws/rest/ordenPago/registra";
pub(crate) const INQUIRE: &str = "POST /efws/API/consultaOrden";

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
    payee: Value,
    state: String,
    cause: Value,
}

#[derive(Default)]
struct Desk {
    /// The operating date, as in `20261123`.
    today: String,
    follows_orders: bool,
    /// By tracking key and operating date.
    orders: BTreeMap<(String, String), Order>,
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
                let (company, payee) = (body["empresa"].clone(), body["cuentaBeneficiario"].clone());
                place.insert(Order { amount, company, payee, state: "A".to_owned(), cause: Value::Null });
                json!({ "resultado": { "id": id } }).to_string()
            }
        };
        reply_with(self.registering.as_ref(), 200, reply)
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
        let (status, reply) = match self.orders.get(&key) {
            Some(Order { amount, company, payee, state, cause }) => (
                200,
                format!(
                    r#"{{"estado":0,"mensaje":"bien","respuesta":{{"claveRastreo":"{}","estado":"{state}",
                    "empresa":{company},"fechaOperacion":{},"cuentaBeneficiario":{payee},
                    "monto":{amount},"causaDevolucion":{cause},"tsLiquidacion":null}}}}"#,
                    key.0, key.1
                ),
            ),
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
