//! Transfers, their status and their route.

use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::money::Money;
use super::remittance::Remittance;

super::text_enum! {
    /// `Completed` and `Failed` are final.
    Status {
        /// Accepted, not settled.
        Pending = "pending",
        Completed = "completed",
        /// Refused by the rail; the money was returned.
        Failed = "failed",
    }
}

impl Status {
    /// Whether a transfer may ever change from `self` to `next`, whatever the rules component says.
    pub fn may_become(self, next: Self) -> bool {
        self == Self::Pending && next != Self::Pending
    }

    /// The status after an event of the rail; `None` if the event does not apply.
    pub fn after(self, event: RailEvent) -> Option<Self> {
        match (self, event) {
            (Self::Pending, RailEvent::Settled) => Some(Self::Completed),
            (Self::Pending, RailEvent::Rejected) => Some(Self::Failed),
            _ => None,
        }
    }
}

super::text_enum! {
    /// What caused a transfer.
    Kind {
        /// A user's transfer through SPEI.
        Spei = "spei",
        /// The credit that opens an account.
        Opening = "opening",
        /// A credit by the bank's operator.
        Funding = "funding",
        /// The money of a settled transfer, sent back by the other bank.
        Return = "return",
        /// An order of another bank: credited, or sent back.
        Received = "received",
    }
}

super::text_enum! {
    /// An event that changes a status.
    RailEvent {
        Settled = "settled",
        Rejected = "rejected",
    }
}

super::text_enum! {
    RailName {
        /// Settles at once, in the bank's own books.
        Instant = "instant",
        /// A stand-in for SPEI with its delays, rejections and returns.
        Simulated = "simulated",
        /// SPEI, through the participant STP.
        Stp = "stp",
        /// No rail: both accounts are at this bank.
        OnUs = "on-us",
    }
}

impl RailName {
    /// Whether a payment settles in the commit that makes it.
    pub fn is_instant(self) -> bool {
        matches!(self, Self::Instant | Self::OnUs)
    }
}

/// A final report from a rail, or what a person decided on a transfer before it went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Report {
    Settled,
    /// Refused before it settled.
    Rejected,
    /// Sent back by the other bank, normally after it settled.
    Returned,
    Released,
    Refused,
}

/// A code from SPEI's list of return reasons: two digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason([u8; 2]);

impl Reason {
    /// "Cuenta inexistente".
    pub const NO_SUCH_ACCOUNT: Self = Self(*b"01");

    /// The account would hold more than is allowed.
    pub const OVER_LIMIT: Self = Self(*b"20");

    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; 2] = text.as_bytes().try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// A transfer as its sender sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub transfer_id: Uuid,
    /// The debited account.
    pub from_account_id: Uuid,
    /// `None` for a credit by the bank.
    pub to_beneficiary_id: Option<Uuid>,
    /// Name at the time of the transfer.
    pub beneficiary_name: Option<String>,
    /// Likewise, the payee's number and bank; `None` for a credit by the bank.
    pub payee: Option<PayeeAccount>,
    /// Above zero.
    pub amount: Money,
    pub status: Status,
    /// Clave de rastreo.
    pub spei_reference: Option<String>,
    pub remittance: Remittance,
    pub created_at: OffsetDateTime,
}

/// Where the money of a transfer goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayeeAccount {
    pub number: String,
    pub bank: String,
}

impl PayeeAccount {
    pub(crate) fn read(number: Option<String>, bank: Option<String>) -> Option<Self> {
        Some(Self { number: number?, bank: bank? })
    }
}

/// A transfer with the data that a rail needs.
#[derive(Debug, Clone)]
pub struct Payment {
    pub transfer_id: Uuid,
    /// Clave de rastreo: identifies the payment to both banks.
    pub tracking_key: String,
    pub amount: Money,
    pub created_at: OffsetDateTime,
    /// SPEI's business day that it is sent for. With the tracking key it identifies the payment.
    pub operating_date: Date,
    /// Number of the debited account, if the bank issued it. What a user typed is not the bank's to assert.
    pub sender_number: Option<String>,
    /// Verified name of the holder, if the bank has one.
    pub sender_name: Option<String>,
    pub payee_name: String,
    /// As the user typed it; not necessarily a CLABE.
    pub payee_number: String,
    pub payee_bank: String,
    pub remittance: Remittance,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pending_transfers_move_and_only_to_a_final_status() {
        let allowed = [(Status::Pending, Status::Completed), (Status::Pending, Status::Failed)];
        for &from in Status::ALL {
            for &to in Status::ALL {
                assert_eq!(from.may_become(to), allowed.contains(&(from, to)), "{from} -> {to}");
            }
        }
    }
}
