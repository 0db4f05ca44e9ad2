//! The way out of the bank: payment rails behind one trait, and the courier that keeps them busy.
//!
//! A rail takes payments and says what became of them; it moves no money. What it says goes to the
//! [`ledger`](crate::ledger), which does.

pub mod calendar;
pub mod courier;
pub mod simulated;
pub mod stp;

use std::future::Future;
use std::pin::Pin;

use tokio::sync::mpsc;

pub use crate::db::payments::Payment;

/// What a rail says about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Taken; more comes later.
    Taken,
    /// Settled at the other bank.
    Settled,
    /// Refused or sent back before it settled: why, as two digits of SPEI's list of return reasons, when the rail
    /// gave one.
    Rejected(Option<String>),
    /// Came back after it had settled.
    Returned(Option<String>),
}

/// News that a rail gives by itself. They may come twice, late, or in any order.
#[derive(Debug, Clone)]
pub struct Push {
    /// The payment.
    pub tracking_key: String,
    /// What became of it.
    pub news: News,
}

/// Where rails put what they give by themselves.
pub type Pushes = mpsc::Sender<Push>;

/// Why a rail said nothing.
#[derive(Debug, thiserror::Error)]
pub enum RailError {
    /// The rail was not reached: it does not have the payment.
    #[error("the rail cannot be reached")]
    Unreached(#[source] anyhow::Error),
    /// No answer or none that is understood: the rail may have the payment. It has to be asked before anything is
    /// sent again.
    #[error("what the rail made of the payment is not known")]
    Unknown(#[source] anyhow::Error),
}

/// What a rail answers with.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, RailError>> + Send + 'a>>;

/// A payment rail.
pub trait Rail: Send + Sync + 'static {
    /// Hands a payment over. The same payment may come again: its tracking key tells.
    fn send<'a>(&'a self, payment: &'a Payment) -> Answer<'a, News>;

    /// What became of a payment; none when the rail never heard of it.
    fn find<'a>(&'a self, payment: &'a Payment) -> Answer<'a, Option<News>>;
}
