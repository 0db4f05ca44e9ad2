//! Payment rails behind one trait, and the courier that serves them.
//!
//! A rail accepts payments and reports their status; it moves no money. The courier hands its reports to the
//! [`ledger`](crate::ledger), which does.

mod alarm;
mod calendar;
pub mod courier;
pub mod decision;
mod inquiries;
pub mod simulated;
pub mod stp;

use std::future::Future;
use std::pin::Pin;

use tokio::sync::mpsc;

pub use crate::domain::transfer::Payment;

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

/// A status that a rail sends unprompted. Notifications may be duplicated, late or out of order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub tracking_key: String,
    pub status: PaymentStatus,
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

pub trait Rail: Send + Sync + 'static {
    /// Hands over a payment. Idempotent: the tracking key identifies the payment.
    fn send<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, PaymentStatus>;

    /// `None` if the rail never received the payment.
    fn find<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, Option<PaymentStatus>>;
}
