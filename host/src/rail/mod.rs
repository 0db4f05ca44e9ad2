//! The way out of the bank: payment rails behind one trait.

pub mod calendar;
pub mod stp;

use std::future::Future;
use std::pin::Pin;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::money::Money;

/// A payment as a rail needs it.
#[derive(Debug, Clone)]
pub struct Payment {
    /// The transfer that it carries out.
    pub transfer_id: Uuid,
    /// Clave de rastreo.
    pub tracking_key: String,
    /// How much.
    pub amount: Money,
    /// When the transfer was made.
    pub created_at: OffsetDateTime,
    /// Number of the debited account, as its owner gave it.
    pub sender_number: String,
    /// Who sends.
    pub sender: String,
    /// Who is paid, as the user gave it.
    pub payee_name: String,
    /// As the user gave it; may be no CLABE at all.
    pub payee_number: String,
    /// The payee's bank, as the user gave it.
    pub payee_bank: String,
}

/// What a rail says about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Taken; more comes later.
    Taken,
    /// Settled at the other bank.
    Settled,
    /// Refused or sent back before it settled: why, as two digits of SPEI's list of return reasons when
    /// the rail gave one.
    Rejected(Option<String>),
    /// Came back after it had settled.
    Returned(Option<String>),
}

/// Why a rail's word on a payment is missing.
#[derive(Debug, thiserror::Error)]
pub enum RailError {
    /// The rail was not reached: it does not have the payment.
    #[error("the rail cannot be reached")]
    Unreached(#[source] anyhow::Error),
    /// No answer or none that is understood: the rail may have the payment. It has to be asked before
    /// anything is sent again.
    #[error("what the rail made of the payment is not known")]
    Unknown(#[source] anyhow::Error),
}

/// What a rail's methods return.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, RailError>> + Send + 'a>>;

/// Carries payments to other banks.
pub trait Rail: Send + Sync + 'static {
    /// Hands a payment over. The same payment may come again: its tracking key tells.
    fn send<'a>(&'a self, payment: &'a Payment) -> Answer<'a, News>;

    /// What became of a payment; none when the rail never heard of it.
    fn find<'a>(&'a self, payment: &'a Payment) -> Answer<'a, Option<News>>;
}
