//! Transfers as their senders ask for them.

use uuid::Uuid;

use super::bank_account::CURRENCY;
use super::money::Money;
use super::remittance::Remittance;
use crate::schema::{Flat, record};

/// An instant in examples.
pub const INSTANT_EXAMPLE: &str = "\"2026-11-21T18:00:00.000Z\"";

/// An id in examples.
pub const ID_EXAMPLE: &str = "\"0198f1c2-5a2b-7c3d-8e4f-5a6b7c8d9e0f\"";

record! {
    /// Who pays whom, and how much.
    pub struct Payment in camelCase {
        pub from_account_id: Uuid { example: ID_EXAMPLE },
        /// Or of another account of the user's own, if the bank issued its number.
        pub to_beneficiary_id: Uuid { example: ID_EXAMPLE },
        /// Exact: at most two decimals by value.
        pub amount: Money { positive: true, unit: CURRENCY, example: "1500.50" },
    }
}

record! {
    /// What only the sender's client knows.
    pub struct Circumstances in camelCase {
        /// Whether the device is new or unrecognized. Defaults to true: say the same in a transfer and its risk context. Does not
        /// count with a token that is bound to a key: the bank knows whether anything was sent with that key before.
        pub is_new_device: Option<bool> { example: "false" },
        /// Whether the location differs from the user's usual one. Defaults to true, likewise.
        pub geolocation_changed: Option<bool> { example: "false" },
    }
}

record! {
    /// A transfer to make, now or on the dates of a schedule, which stores this as JSON.
    pub struct TransferRequest as "PlannedTransfer" in camelCase {
        pub payment: Flat<Payment>,
        pub circumstances: Flat<Circumstances>,
        pub remittance: Flat<Remittance>,
    }
}
