//! Payment rails behind one trait, and the courier that serves them.
//!
//! A rail accepts payments and reports their status; it moves no money. The courier hands its reports to the
//! [`ledger`](crate::ledger), which does.

mod alarm;
mod calendar;
pub mod courier;
pub mod decision;
pub mod incoming;
mod inquiries;
mod reconciliation;
pub mod recovery;
mod returns;
pub mod simulated;
pub mod stp;

use std::any::Any;
use std::future::Future;
use std::pin::Pin;

use time::Date;
use tokio::sync::mpsc;

pub use crate::db::reconciliations::difference::Direction;
pub use crate::domain::incoming::{IncomingOrder, OrderKey};
use crate::domain::money::Money;
pub use crate::domain::transfer::Payment;
pub use calendar::{finished_date, operating_date};

/// A payment's status at its rail. A reason is a two-digit SPEI return reason, if the rail gave one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentStatus {
    /// In transit.
    Accepted,
    /// Credited by the other bank.
    Settled,
    /// Refused, or sent back before it settled.
    Rejected(Option<String>),
    /// Sent back after it settled.
    Returned(Option<String>),
}

/// What a rail says unprompted. Notifications may be duplicated, late or out of order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    Payment {
        tracking_key: String,
        status: PaymentStatus,
    },
    /// There is an order to this bank.
    Incoming(OrderKey),
}

/// What became of a notice of an order to this bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderNotice {
    /// Or an earlier one was, or its order is in the ledger.
    Kept,
    /// No notice has such a key: its date is far from today, or it is malformed.
    Refused,
    /// Too many wait: the rail must send it again.
    Full,
}

/// An order to this bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    pub order: IncomingOrder,
    pub status: IncomingStatus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncomingStatus {
    /// The money is this bank's to credit or to send back.
    Received,
    /// It was sent back, with this reason if the rail says one.
    Returned(Option<String>),
}

/// A part of the list of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub lines: Vec<Line>,
    pub is_last: bool,
}

/// An order in the list of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Sent {
        tracking_key: String,
        amount: Money,
        sender_number: Option<String>,
        payee_name: Option<String>,
        payee_number: String,
        status: PaymentStatus,
    },
    Received(Incoming),
    /// What the rail says about it is not understood.
    Unclear {
        tracking_key: String,
    },
}

/// Where a rail sends its notifications.
pub type Notifications = mpsc::Sender<Notification>;

#[derive(Debug, thiserror::Error)]
pub enum RailError {
    /// The rail did not receive the payment.
    #[error("the rail is unreachable")]
    Unreachable(#[source] anyhow::Error),
    /// The reply is missing or unintelligible, so the rail may have the payment: look it up before sending again.
    #[error("the payment's status at the rail is unknown")]
    Unknown(#[source] anyhow::Error),
    /// The rail answered, and what it said has to be judged by a person.
    #[error("the rail's answer leaves the payment undecided")]
    Undecided(#[source] anyhow::Error),
}

pub type RailFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RailError>> + Send + 'a>>;

pub trait Rail: Any + Send + Sync {
    /// Hands over a payment. Idempotent: the tracking key identifies the payment.
    fn send<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, PaymentStatus>;

    /// `None` if the rail never received the payment.
    fn find<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, Option<PaymentStatus>>;

    /// `None` if the rail has no such order to this bank.
    fn find_incoming<'a>(&'a self, key: &'a OrderKey) -> RailFuture<'a, Option<Incoming>>;

    /// Sends an order back, with a reason of SPEI's list. Idempotent. [`PaymentStatus::Returned`] once it is; until then
    /// [`PaymentStatus::Accepted`].
    fn return_order<'a>(&'a self, order: &'a IncomingOrder, reason: &'a str) -> RailFuture<'a, PaymentStatus>;

    /// The orders of an operating date, page by page from 0.
    fn list(&self, date: Date, direction: Direction, page: u32) -> RailFuture<'_, Page>;
}
