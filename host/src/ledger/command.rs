//! The ledger's commands and their outcomes.

use uuid::Uuid;

use crate::domain::money::Money;
use crate::domain::risk;
use crate::domain::rules::Violation;
use crate::domain::transfer::{Reason, Report, Status, Transfer};

#[derive(Debug, Clone)]
pub enum Command {
    Open(OpenAccount),
    /// Credits an account from the bank's own money.
    Fund(Fund),
    Transfer(Order),
    Report(PaymentReport),
}

impl Command {
    /// The customer's account. Commands on one account share a queue.
    pub fn account_id(&self) -> Uuid {
        match self {
            Self::Open(open) => open.account_id,
            Self::Fund(fund) => fund.account_id,
            Self::Transfer(order) => order.from_account_id,
            Self::Report(report) => report.account_id,
        }
    }
}

#[derive(Debug, Clone)]
pub struct OpenAccount {
    /// Id of the new account.
    pub account_id: Uuid,
    pub owner: String,
    /// As the user typed it.
    pub account_number: String,
    pub account_type: String,
    /// Nothing is credited if this is zero.
    pub opening_credit: Money,
    /// Id of the opening credit.
    pub transfer_id: Uuid,
}

/// A credit by the operator.
#[derive(Debug, Clone)]
pub struct Fund {
    /// Id of the new transfer.
    pub transfer_id: Uuid,
    pub account_id: Uuid,
    /// Above zero.
    pub amount: Money,
}

/// A user's transfer to a saved beneficiary.
#[derive(Debug, Clone)]
pub struct Order {
    /// Id of the new transfer.
    pub transfer_id: Uuid,
    pub owner: String,
    /// The request's `Idempotency-Key`.
    pub key: Option<String>,
    pub from_account_id: Uuid,
    pub to_beneficiary_id: Uuid,
    /// Above zero.
    pub amount: Money,
    pub risk: Risk,
}

/// What the host knows about a transfer's risk when the rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// Risk is not enforced, or there is nothing to score: no such account or beneficiary.
    NotEnforced,
    Assessed {
        level: risk::Level,
        /// Whether the person acknowledged exactly this risk.
        acknowledged: bool,
    },
    /// The scorer gave no usable answer. Recorded answers are still replayed, but nothing new is decided.
    Unavailable,
}

/// A rail's report on a payment. It may be duplicated, late or contradict an earlier one.
#[derive(Debug, Clone)]
pub struct PaymentReport {
    pub transfer_id: Uuid,
    /// The account that the transfer debited.
    pub account_id: Uuid,
    pub report: Report,
    /// `None` if the rail gave none.
    pub reason: Option<Reason>,
    /// Id of the credit that returns the money, if it is returned.
    pub return_id: Uuid,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedAccount {
    pub account_id: Uuid,
    pub account_number: String,
    pub account_type: String,
    /// Equal to the opening credit.
    pub balance: Money,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Opened(OpenedAccount),
    /// The owner already has an account with this number.
    AccountExists,
    /// The new balance.
    Funded(Money),
    Sent {
        transfer: Transfer,
        /// Whether this repeats the outcome of an earlier command with the same key.
        replayed: bool,
    },
    /// Refused by the rules or for lack of funds.
    Rejected {
        /// At least one, the most serious first.
        violations: Vec<Violation>,
        /// Whether this repeats the outcome of an earlier command with the same key.
        replayed: bool,
    },
    /// The account does not exist or is another user's.
    AccountNotFound,
    /// The beneficiary does not exist or is another user's.
    BeneficiaryNotFound,
    /// The key belongs to a different transfer.
    KeyReused,
    /// The rules component gave no usable answer. Nothing was decided.
    RulesUnavailable,
    /// The risk scorer gave no usable answer. Nothing was decided.
    RiskUnavailable,
    /// The reported transfer reached its final status.
    StatusChanged(Status),
    /// The report is a duplicate or too late: a final status never changes.
    StatusUnchanged(Status),
    /// The money of a settled transfer was returned to its account.
    Returned,
    /// The reported transfer does not exist.
    TransferNotFound,
    /// The credited balance would overflow. Nothing was moved.
    BalanceTooLarge,
}
