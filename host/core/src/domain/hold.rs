//! Holds: money set aside for a payee.

use time::OffsetDateTime;
use uuid::Uuid;

use super::money::Money;

super::text_enum! {
    /// All but `Placed` are final.
    Status {
        Placed = "placed",
        /// Paid to the beneficiary, as a transfer.
        Captured = "captured",
        /// Released before it expired.
        Voided = "voided",
        Expired = "expired",
    }
}

/// A hold as the account's owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    pub hold_id: Uuid,
    pub account_id: Uuid,
    pub beneficiary_id: Uuid,
    /// Name at the time of the hold.
    pub beneficiary_name: String,
    /// Above zero.
    pub amount: Money,
    pub status: Status,
    /// From then on it cannot be captured.
    pub expires_at: OffsetDateTime,
    pub created_at: OffsetDateTime,
}

/// A hold and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedHold {
    pub owner: String,
    pub hold: Hold,
}
