//! The money core.
//!
//! A handler hands a [`Command`] to the [`Ledger`]; its batcher loads what the command touches,
//! runs the pure [`apply`](mod@apply), and writes the outcome with one statement that the database
//! proves. This module moves money and nothing else: no HTTP, no tokens, no scores.
//!
//! Invariants: every amount leaves one balance and enters another; an answer is given only after
//! the commit; one idempotency key has one answer for ever.

pub mod apply;
pub mod batch;
pub mod batcher;
pub mod chain;
mod decide;
mod fingerprint;
mod jitter;
pub mod queue;
pub mod store;
pub mod tracking;
pub mod writer;

use uuid::Uuid;

use crate::db::transfers::Transfer;
use crate::domain::money::Money;
use crate::domain::risk;
use crate::domain::rules::Violation;
use crate::domain::transfer::{Reason, Report, Status};

pub use jitter::Jitter;
pub use queue::{Ledger, LedgerConfig, LedgerError};

/// Source of opening and funding credits: what the bank put in. Made by the first migration.
pub const FUNDING_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001);

/// Where transfers through SPEI go. Made by the first migration.
pub const SPEI_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0002);

/// Where money is between the account it left and the rail that has not settled it. Made by migration 8.
pub const IN_TRANSIT_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0003);

/// Customers' balances have this stripe only.
pub const CUSTOMER_STRIPE: i16 = 0;

/// Something that changes balances.
#[derive(Debug, Clone)]
pub enum Command {
    /// Opens an account.
    Open(OpenAccount),
    /// Credits an account from the bank's own money.
    Fund(Fund),
    /// Sends a transfer.
    Transfer(Order),
    /// Says what became of a payment.
    Report(PaymentReport),
}

impl Command {
    /// The customer's account that it is about: commands on one account wait in one queue.
    pub fn account_id(&self) -> Uuid {
        match self {
            Self::Open(open) => open.account_id,
            Self::Fund(fund) => fund.account_id,
            Self::Transfer(order) => order.from_account_id,
            Self::Report(report) => report.account_id,
        }
    }
}

/// Opens an account, with a first credit when it is above zero.
#[derive(Debug, Clone)]
pub struct OpenAccount {
    /// New id.
    pub account_id: Uuid,
    /// Whose account.
    pub owner: String,
    /// As the user gave it.
    pub account_number: String,
    /// As the user gave it.
    pub account_type: String,
    /// May be zero.
    pub opening_credit: Money,
    /// Id for the opening credit's transfer.
    pub transfer_id: Uuid,
}

/// An operator's credit.
#[derive(Debug, Clone)]
pub struct Fund {
    /// New id.
    pub transfer_id: Uuid,
    /// Credited customer account.
    pub account_id: Uuid,
    /// Above zero.
    pub amount: Money,
}

/// A user's transfer to a saved beneficiary.
#[derive(Debug, Clone)]
pub struct Order {
    /// New id.
    pub transfer_id: Uuid,
    /// Who sends.
    pub owner: String,
    /// The request's `Idempotency-Key`, when it had one.
    pub key: Option<String>,
    /// Debited account.
    pub from_account_id: Uuid,
    /// Saved beneficiary.
    pub to_beneficiary_id: Uuid,
    /// Above zero.
    pub amount: Money,
    /// How risky it is, as far as somebody asked.
    pub risk: Risk,
}

/// What the host knows about the risk of a transfer when the rules decide on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// Risk plays no part, or there is nothing to score: no such account or beneficiary.
    NotAsked,
    /// The scorer's level.
    Assessed {
        /// How risky.
        level: risk::Level,
        /// Whether the person acknowledged that very risk.
        acknowledged: bool,
    },
    /// The scorer gave no usable answer: nothing new is decided, while earlier answers are found.
    Unavailable,
}

/// What a rail says about a payment. The same report may come again, late, or after its opposite.
#[derive(Debug, Clone)]
pub struct PaymentReport {
    /// The transfer that it is about.
    pub transfer_id: Uuid,
    /// The account that it was debited from.
    pub account_id: Uuid,
    /// What happened.
    pub report: Report,
    /// Why, when the rail said so.
    pub reason: Option<Reason>,
    /// Id for the credit, should the money come back.
    pub return_id: Uuid,
}

/// An account just opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Id.
    pub account_id: Uuid,
    /// As given.
    pub account_number: String,
    /// As given.
    pub account_type: String,
    /// The opening credit.
    pub balance: Money,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The account exists now.
    Opened(Opened),
    /// The owner already has an account with that number.
    AccountExists,
    /// The credit is made; the new balance.
    Funded(Money),
    /// The transfer is made, or was made before under the same key.
    Sent {
        /// The transfer.
        transfer: Transfer,
        /// Found under its key.
        replayed: bool,
    },
    /// The rules or the balance refuse, or refused before under the same key.
    Rejected {
        /// At least one, the gravest first.
        violations: Vec<Violation>,
        /// Found under its key.
        replayed: bool,
    },
    /// No such account, or another user's.
    AccountNotFound,
    /// No such beneficiary, or another user's.
    BeneficiaryNotFound,
    /// The key was used for another transfer.
    KeyReused,
    /// The rules component gave no usable answer. Nothing was decided.
    RulesUnavailable,
    /// The risk scorer gave no usable answer. Nothing was decided.
    RiskUnavailable,
    /// The reported transfer moved to its end.
    Moved(Status),
    /// The money of the settled transfer is back in its account.
    Returned,
    /// The report changes nothing: it came before, or a transfer's end never changes.
    Unmoved(Status),
    /// There is no transfer like the reported one.
    TransferNotFound,
    /// The sum would not fit; nothing was moved.
    BalanceTooLarge,
}
