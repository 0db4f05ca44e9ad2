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
mod fingerprint;
pub mod queue;
pub mod rail;
pub mod store;
pub mod writer;

use uuid::Uuid;

use crate::db::transfers::Transfer;
use crate::domain::money::Money;
use crate::domain::rules::Violation;

pub use queue::{Ledger, LedgerError};

/// Source of opening and funding credits: what the bank put in. Made by the first migration.
pub const FUNDING_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001);

/// Where transfers through SPEI go. Made by the first migration.
pub const SPEI_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0002);

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
    /// The sum would not fit; nothing was moved.
    BalanceTooLarge,
}
