//! Payments through STP, which participates in SPEI on behalf of others. Orders are signed and sent to `registra`, and
//! looked up with `consultaOrden`.
//!
//! Translates STP's replies about one payment at a time. The courier decides when to send, ask or give up; the ledger
//! applies the result to accounts.

mod answers;
mod client;
mod giveback;
mod incoming;
mod inquiry;
mod json;
mod order;
mod payee;
mod settings;
mod signature;
mod state;
mod text;
mod webhook;

pub use settings::{Form, INSTITUTION, Settings, SettingsError};
pub use webhook::{WebhookError, order_key_of, tracking_key_of};

use std::time::Duration;

use anyhow::anyhow;
use hyper::StatusCode;
use time::Date;

use self::client::{Client, LIST, Method, Reply};
use self::inquiry::{Inquiry, RECEIVED, SENT};
use self::order::Order;
use self::payee::Unsendable;
use self::settings::Participant;
use self::signature::Key;
use super::calendar::operating_date;
use super::{Direction, Incoming, IncomingOrder, OrderKey, Page, Payment, PaymentStatus, Rail, RailError, RailFuture};
use crate::clock::Clock;

const REGISTER: &str = "/speiws/rest/ordenPago/registra";
const RETURN: &str = "/speiws/rest/ordenPago/retornaOrden";
const INQUIRE: &str = "/efws/API/consultaOrden";

pub struct Stp {
    participant: Participant,
    key: Key,
    client: Client,
    clock: Clock,
}

impl Stp {
    /// Checks the settings without sending anything. For `https` it reads the machine's root certificates, or the file
    /// that `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let url = settings.url.clone();
        let (participant, key) = settings.check()?;
        Ok(Self { participant, key, client: Client::new(&url)?, clock: Clock::system() })
    }

    /// The clock determines whether an order is looked up among today's or past ones.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// An operating date as inquiries have it: those about the current one are without a date.
    fn past(&self, date: Date) -> Option<Date> {
        (date != operating_date(self.clock.now())).then_some(date)
    }

    /// Longest wait for a reply, including connecting; 15 seconds by default.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.client.set_reply_timeout(timeout);
        self
    }
}

/// What a reply to `registra` means, whatever it consists of.
///
/// # Errors
/// When it says nothing certain about the order.
pub fn registered(status: u16, body: Vec<u8>) -> Result<PaymentStatus, RailError> {
    answers::registered(&reply(status, body)?)
}

/// What a reply to `consultaOrden` about a payment of a company means, whatever it consists of.
///
/// # Errors
/// When it says nothing certain about the payment.
pub fn found(status: u16, body: Vec<u8>, payment: &Payment, company: &str) -> Result<Option<PaymentStatus>, RailError> {
    answers::found(&reply(status, body)?, payment, company)
}

fn reply(status: u16, body: Vec<u8>) -> Result<Reply, RailError> {
    let status = StatusCode::from_u16(status).map_err(|error| RailError::Unknown(error.into()))?;
    Ok(Reply { status, body: body.into() })
}

impl Rail for Stp {
    /// Tracking key and operating date belong to the payment, so STP rejects duplicates, which count as accepted.
    fn send<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, PaymentStatus> {
        Box::pin(async move {
            let order = match Order::new(payment, &self.participant) {
                Ok(order) => order,
                Err(Unsendable(reason)) => return Ok(PaymentStatus::Rejected(reason.map(str::to_owned))),
            };
            let body = order.signed(&self.key)?;
            let reply = self.client.exchange(Method::PUT, REGISTER, body).await?;
            answers::registered(&reply)
        })
    }

    fn find<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, Option<PaymentStatus>> {
        Box::pin(async move {
            let date = self.past(payment.operating_date);
            let inquiry = Inquiry::new(&self.participant.company, SENT, &payment.tracking_key, date);
            let reply = self.client.exchange(Method::POST, INQUIRE, inquiry.signed(&self.key)?).await?;
            answers::found(&reply, payment, &self.participant.company)
        })
    }

    fn find_incoming<'a>(&'a self, key: &'a OrderKey) -> RailFuture<'a, Option<Incoming>> {
        Box::pin(async move {
            let (company, date) = (&self.participant.company, self.past(key.operating_date));
            let inquiry = Inquiry::new(company, RECEIVED, &key.tracking_key, date);
            let reply = self.client.exchange(Method::POST, INQUIRE, inquiry.signed(&self.key)?).await?;
            incoming::found(&reply, key, date, company)
        })
    }

    /// `retornaOrden` takes no reason: STP gives its own. A repeated return counts as accepted; `consultaOrden` shows it.
    fn return_order<'a>(&'a self, order: &'a IncomingOrder, _reason: &'a str) -> RailFuture<'a, PaymentStatus> {
        Box::pin(async move {
            let body = giveback::signed(order, &self.participant, &self.key)?;
            let reply = self.client.exchange(Method::PUT, RETURN, body).await?;
            match answers::registered(&reply)? {
                PaymentStatus::Accepted => Ok(PaymentStatus::Accepted),
                _ => Err(RailError::Undecided(anyhow!("retornaOrden refused to send the order back"))),
            }
        })
    }

    fn list(&self, date: Date, direction: Direction, page: u32) -> RailFuture<'_, Page> {
        Box::pin(async move {
            let kind = if direction == Direction::Sent { SENT } else { RECEIVED };
            let asked = self.past(date);
            let inquiry = Inquiry::list(&self.participant.company, kind, asked, page);
            let reply = self.client.exchange(Method::POST, LIST, inquiry.signed(&self.key)?).await?;
            incoming::listed(&reply, (asked, direction, page), &self.participant.company)
        })
    }
}
