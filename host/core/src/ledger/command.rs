//! The ledger's commands and their outcomes.

use std::sync::Arc;

use time::Duration;
use uuid::Uuid;

use crate::decision::Decision;
use crate::domain::bank_account::SPEI_ACCOUNT;
use crate::domain::clabe::Clabe;
use crate::domain::hold::Hold;
use crate::domain::incoming::IncomingOrder;
use crate::domain::model::ModelKind;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::domain::risk::Risk;
use crate::domain::rules::Violation;
use crate::domain::transfer::{RailName, Reason, Report, Status, Transfer};

#[derive(Debug, Clone)]
pub enum Command {
    Open(OpenAccount),
    /// Credits an account from the bank's own money.
    Fund(Fund),
    Transfer(Order),
    Report(PaymentReport),
    Receive(Receive),
    Hold(PlaceHold),
    Release(ReleaseHold),
    Freeze(Freeze),
    Recover(Recover),
}

impl Command {
    /// The customer's account, if the command names one.
    pub fn account_id(&self) -> Option<Uuid> {
        match self {
            Self::Open(open) => Some(open.account_id),
            Self::Fund(fund) => Some(fund.account_id),
            Self::Transfer(order) => Some(order.from_account_id),
            Self::Report(report) => Some(report.account_id).filter(|id| *id != SPEI_ACCOUNT),
            // A number leads to it.
            Self::Receive(_) => None,
            Self::Hold(place) => Some(place.order.from_account_id),
            Self::Release(release) => Some(release.account_id),
            Self::Freeze(freeze) => Some(freeze.account_id),
            Self::Recover(recover) => Some(recover.account_id),
        }
    }

    /// Whether a user's request waits for it. Others come from the rail, from expired holds and from operators.
    pub(super) fn is_interactive(&self) -> bool {
        match self {
            Self::Open(_) | Self::Transfer(_) | Self::Hold(_) => true,
            Self::Release(release) => release.owner.is_some(),
            Self::Fund(_) | Self::Report(_) | Self::Receive(_) | Self::Freeze(_) | Self::Recover(_) => false,
        }
    }

    /// The order of a transfer or a hold.
    pub fn order(&self) -> Option<&Order> {
        match self {
            Self::Transfer(order) => Some(order),
            Self::Hold(place) => Some(&place.order),
            _ => None,
        }
    }

    /// Gives an order those of these decisions that are on its risk.
    pub(super) fn rest_on(&mut self, decisions: &[Decision]) {
        if let Self::Transfer(order) | Self::Hold(PlaceHold { order, .. }) = self {
            let is_it = |it: &&Decision| it.by.kind == ModelKind::Risk && it.subject == order.transfer_id;
            order.risk_decisions = Some(decisions.iter().filter(is_it).cloned().collect());
        }
    }

    /// The order of another bank.
    pub fn incoming(&self) -> Option<&IncomingOrder> {
        if let Self::Receive(receive) = self { Some(&receive.order) } else { None }
    }

    /// The account at this bank that a return debits.
    pub fn payee_account_id(&self) -> Option<Uuid> {
        if let Self::Report(report) = self { report.payee_account_id } else { None }
    }

    /// The id that a client, an operator or another bank chose for what the command makes, so that another one may have it.
    pub fn chosen_id(&self) -> Option<Uuid> {
        match self {
            Self::Fund(fund) => Some(fund.transfer_id),
            Self::Receive(receive) => Some(receive.order.transfer_id()),
            Self::Recover(recover) => Some(recover.transfer_id),
            _ => match self.order()?.risk {
                Risk::Assessed { acknowledged, .. } => acknowledged,
                _ => None,
            },
        }
    }

    /// The hold that the command ends.
    pub fn hold_id(&self) -> Option<Uuid> {
        match self {
            Self::Transfer(order) => order.hold_id,
            Self::Release(release) => Some(release.hold_id),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct OpenAccount {
    /// Id of the new account.
    pub account_id: Uuid,
    pub owner: String,
    /// As the user typed it, or as the bank issued it.
    pub account_number: String,
    /// The same number, if the bank issued it.
    pub issued: Option<Clabe>,
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
    /// Id of the new transfer, or of the new hold.
    pub transfer_id: Uuid,
    pub owner: String,
    /// The request's `Idempotency-Key`.
    pub key: Option<String>,
    pub from_account_id: Uuid,
    pub to_beneficiary_id: Uuid,
    /// Above zero.
    pub amount: Money,
    /// Of a transfer; a hold has none until it is captured.
    pub remittance: Remittance,
    pub risk: Risk,
    /// What the sender acknowledged and what the model decides now, as far as they are to be kept.
    pub risk_decisions: Option<Arc<[Decision]>>,
    /// The hold that the transfer captures.
    pub hold_id: Option<Uuid>,
    /// Thumbprint of the key that the sender's token was bound to.
    pub device: Option<String>,
    /// Whether a refusal may be recorded with the key. Otherwise it is not answered with one, so the key stays free.
    pub may_record_refusal: bool,
}

impl Order {
    /// Its acknowledgment does not count.
    pub(super) fn forget_shown(&mut self) {
        let own = |it: &Arc<[Decision]>| it.iter().filter(|it| it.is_own()).cloned().collect();
        self.risk_decisions = self.risk_decisions.as_ref().map(own);
    }
}

/// Sets money aside for a transfer.
#[derive(Debug, Clone)]
pub struct PlaceHold {
    pub order: Order,
    pub lifetime: Duration,
}

/// Ends a hold without a transfer.
#[derive(Debug, Clone)]
pub struct ReleaseHold {
    pub hold_id: Uuid,
    pub account_id: Uuid,
    /// The user who voids it; `None` if it expires.
    pub owner: Option<String>,
}

/// An operator freezes an account, or unfreezes it.
#[derive(Debug, Clone)]
pub struct Freeze {
    pub account_id: Uuid,
    pub frozen: bool,
    pub actor: String,
    pub reason: String,
}

/// Books a payment that its rail has settled and the ledger has lost, on an operator's word.
#[derive(Debug, Clone)]
pub struct Recover {
    /// Id of the new transfer: the same whenever the same payment is booked.
    pub transfer_id: Uuid,
    /// The account that it debits.
    pub account_id: Uuid,
    /// Clave de rastreo, as the lost transfer had it.
    pub tracking_key: String,
    /// Above zero.
    pub amount: Money,
    pub rail: RailName,
    pub payee: LostPayee,
    pub by_hand: ByHand,
}

/// The payee of a lost payment.
#[derive(Debug, Clone)]
pub struct LostPayee {
    /// The sender's beneficiary with this number; nil if there is none.
    pub beneficiary_id: Uuid,
    pub name: String,
    pub bank: String,
    pub number: String,
}

/// A rail's report on a payment. It may be duplicated, late or contradict an earlier one.
#[derive(Debug, Clone)]
pub struct PaymentReport {
    pub transfer_id: Uuid,
    /// The account that the transfer debited: the bank's own for an incoming order.
    pub account_id: Uuid,
    /// The account that a transfer on us credited, whose money an operator returns; `None` for one that left the bank.
    pub payee_account_id: Option<Uuid>,
    pub report: Report,
    /// `None` if the rail gave none.
    pub reason: Option<Reason>,
    /// Id of the credit that returns the money, if it is returned.
    pub return_id: Uuid,
    /// `None` if the rail reports it.
    pub by_hand: Option<ByHand>,
}

/// An order of another bank, as its rail confirmed it.
#[derive(Debug, Clone)]
pub struct Receive {
    pub rail: RailName,
    /// As [`IncomingOrder::checked`] makes it.
    pub order: IncomingOrder,
}

/// Who decides on a payment in place of its rail, or reverses it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByHand {
    pub actor: String,
    pub note: String,
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
    /// The number that was to be issued is another account's.
    NumberTaken,
    /// The new balance.
    Funded(Money),
    /// There is a transfer with this id already.
    IdTaken,
    Sent {
        transfer: Transfer,
        /// Whether this repeats the outcome of an earlier command with the same key.
        replayed: bool,
    },
    Refused(Refusal),
    /// Refused by the rules or for lack of funds.
    Rejected {
        /// At least one, the most serious first.
        violations: Vec<Violation>,
        /// Whether this repeats the outcome of an earlier command with the same key.
        replayed: bool,
        /// The id of its decisions, if the refusal is recorded.
        kept_as: Option<Uuid>,
    },
    Held {
        hold: Hold,
        /// Whether this repeats the outcome of an earlier command with the same key.
        replayed: bool,
    },
    /// The hold was released, now or earlier.
    Released(Hold),
    /// It is too early for the hold to expire.
    HoldNotDue,
    /// Whether the account is frozen, and whether it was not before.
    Frozen {
        frozen: bool,
        changed: bool,
    },
    /// The reported transfer reached its final status.
    StatusChanged(Status),
    /// The report is a duplicate or too late: a final status never changes.
    StatusUnchanged(Status),
    /// The money of a settled transfer was returned to its account.
    Returned,
    /// The reported transfer does not exist.
    TransferNotFound,
    /// The incoming order was credited or is to be sent back, now or earlier.
    Received {
        is_new: bool,
        /// Whether an earlier order with its key moved the same money, if there was one. Otherwise that one counts.
        is_same: bool,
    },
    /// The lost payment was booked.
    Recovered(Transfer),
}

/// Why a command changed nothing. Never recorded with an idempotency key: a retry may succeed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The owner already has an account with this number.
    AccountExists,
    /// The account does not exist or is another user's.
    AccountNotFound,
    /// No money may leave the account.
    AccountFrozen,
    /// The beneficiary does not exist or is another user's.
    BeneficiaryNotFound,
    /// The hold does not exist, is another user's, or is for another account or beneficiary.
    HoldNotFound,
    /// The hold was captured, was voided or has expired.
    HoldEnded(Box<Hold>),
    /// The transfer exceeds the hold.
    HoldExceeded(Box<Hold>),
    /// The key belongs to a different transfer.
    KeyReused,
    /// The rules component gave no usable answer. Nothing was decided.
    RulesUnavailable,
    /// The risk scorer gave no usable answer. Nothing was decided.
    RiskUnavailable,
    /// It would be refused, and no more refusals of its user may be recorded now. Nothing was decided.
    TooManyRefusals,
    /// Too many payments of its user wait for the rail. Nothing was decided.
    TooManyPending,
    /// The account that would be debited, of the payee of a reversed transfer or of the sender of a lost one, does not cover it.
    NotCovered,
    /// The credited balance would overflow. Nothing was moved.
    BalanceTooLarge,
}

impl Refusal {
    /// The code of its problem in the HTTP API, and what it is counted as.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AccountExists => "account-exists",
            Self::AccountNotFound => "account-not-found",
            Self::AccountFrozen => "account-frozen",
            Self::BeneficiaryNotFound => "beneficiary-not-found",
            Self::HoldNotFound => "not-found",
            Self::HoldEnded(_) => "hold-ended",
            Self::HoldExceeded(_) => "hold-exceeded",
            Self::KeyReused => "idempotency-key-reused",
            Self::RulesUnavailable | Self::RiskUnavailable => "model-unavailable",
            Self::TooManyRefusals => "too-many-requests",
            Self::TooManyPending => "too-many-pending",
            Self::NotCovered => "not-covered",
            Self::BalanceTooLarge => "balance-too-large",
        }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
