//! What events carry, by group of types.

use serde_json::Value;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::db::outbox::Event;
use crate::domain::bank_account::CURRENCY;
use crate::domain::incoming::Payer;
use crate::domain::money::Money;
use crate::domain::order::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::schema::{Flat, answer};

answer! {
    /// A change of a transfer's status.
    pub struct TransferEvent in camelCase {
        pub transaction_id: Uuid { example: ID_EXAMPLE },
        pub kind: String { named: "type", example: "\"transfer\"" },
        /// Number of earlier statuses.
        pub ordinal: i16 { example: "0" },
        pub status: String { example: "\"completed\"" },
        pub reason: Option<String> { example: "\"account-closed\"" },
        pub account_id: Uuid { example: ID_EXAMPLE },
        pub amount: Money { unit: CURRENCY, example: "1500.50" },
        pub beneficiary_name: Option<String> { example: "\"Luisa Gómez\"" },
        pub spei_reference: Option<String> { example: "\"CAUDAL0198F1C25A2B7C3D8E4F\"" },
        /// The transaction whose money came back.
        pub returns: Option<Uuid> { example: ID_EXAMPLE },
        /// Who sent money from another bank, as that bank says.
        pub payer_name: Option<String> { example: "\"Jorge Ruiz\"" },
        pub payer_account_number: Option<String> { example: "\"012180001234567897\"" },
        /// Name of the institution, or SPEI's code for it.
        pub payer_bank: Option<String> { example: "\"BBVA\"" },
        pub concept: Option<String> { example: "\"Renta de noviembre\"" },
        pub numeric_reference: Option<u32> { example: "202611" },
        pub created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

impl From<Event> for TransferEvent {
    fn from(event: Event) -> Self {
        Self {
            transaction_id: event.transfer_id,
            kind: if event.kind == "spei" { "transfer".to_owned() } else { event.kind },
            ordinal: event.ordinal,
            status: event.status,
            reason: event.reason,
            account_id: event.account_id,
            amount: event.amount,
            beneficiary_name: event.beneficiary_name,
            spei_reference: event.spei_reference,
            returns: event.returns,
            payer_bank: event.payer.as_ref().and_then(Payer::bank),
            payer_account_number: event.payer.as_ref().and_then(|payer| payer.number.clone()),
            payer_name: event.payer.and_then(|payer| payer.name),
            concept: event.remittance.concept,
            numeric_reference: event.remittance.reference,
            created_at: event.created_at,
        }
    }
}

answer! {
    /// A transfer's new status. Without an earlier one, money left the account debited; one that is `pending` is on its
    /// way, one that is `completed` has reached the account credited, and one that `failed` is back.
    pub(super) struct TransferData in camelCase {
        /// Whose transfer it is; empty if it is no customer's.
        pub user: String { example: "\"ana\"" },
        pub debit_account_id: Uuid { example: ID_EXAMPLE },
        pub credit_account_id: Uuid { example: ID_EXAMPLE },
        pub transfer: Flat<TransferEvent>,
    }
}

answer! {
    /// A hold that was placed or ended.
    pub(super) struct HoldData in camelCase {
        pub user: String { example: "\"ana\"" },
        pub account_id: Uuid { example: ID_EXAMPLE },
        pub hold_id: Uuid { example: ID_EXAMPLE },
        pub amount: Money { unit: CURRENCY, example: "1500.50" },
        pub beneficiary_name: String { example: "\"Luisa Gómez\"" },
        pub expires_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// That captured it.
        pub transaction_id: Option<Uuid> { example: ID_EXAMPLE },
    }
}

answer! {
    /// An account that was frozen or unfrozen.
    pub(super) struct AccountData in camelCase {
        pub user: String { example: "\"ana\"" },
        pub account_id: Uuid { example: ID_EXAMPLE },
        pub by: String { example: "\"eva\"" },
        pub reason: String { example: "\"reported as stolen, case 4711\"" },
    }
}

answer! {
    /// What operators, or hosts for them, did to a deployment, a rollout or an action that takes two of them.
    pub(super) struct OperatorData in camelCase {
        /// The number of the deployment after its kind, or an id.
        pub id: String { example: "\"risk/3\"" },
        pub by: String { example: "\"eva\"" },
        /// What is deployed, what is rolled out, or what was proposed.
        pub details: Value { example: "{\"kind\": \"risk\", \"epoch\": 3}" },
    }
}

answer! {
    /// What became of an occurrence of a scheduled transfer.
    pub(super) struct OccurrenceData in camelCase {
        pub user: String { example: "\"ana\"" },
        pub account_id: String { example: ID_EXAMPLE },
        pub schedule_id: String { example: ID_EXAMPLE },
        pub date: Date { example: "\"2026-12-01\"" },
        /// The transfer, if it was sent.
        pub transaction_id: Option<Uuid> { example: ID_EXAMPLE },
        /// The code of the problem for which it was refused.
        pub problem: Option<String> { example: "\"insufficient-funds\"" },
    }
}
