//! The rows of the ledger's tables, each declared once: the same struct is sealed, written and read back.

mod codec;
mod payment;
mod received;
pub(super) mod tree;

use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::domain::account_number::normalise;
use crate::domain::bank_account::{CURRENCY, CUSTOMER};
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::ledger::batch::{Balance, BalanceKey, Batch, Made, Sent};
use crate::sealing::digest::{Digest, Hash};
use codec::{Unsealed, rejection_to_json};

pub(crate) use codec::{Row, rejection_from_json};

/// Declares a row with the columns of its table in their order, as the type of its view.
macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident as $view:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ })+) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $name { $($(#[$field_doc])* pub(crate) $field: $type),+ }

        impl Row for $name {
            const VIEW: &'static str = $view;

            fn add_to(&self, digest: &mut Digest) {
                $(codec::Field::add_to(&self.$field, digest);)+
            }
        }

        codec::composite!($name as $view { $($field),+ });
    )+ };
}

rows! {
    AccountRow as "account_row" {
        account_id: Uuid,
        kind: String,
        owner: Option<String>,
        account_number: String,
        number_key: String,
        account_type: String,
        currency: String,
        issued: Option<i64>,
        chain_id: Option<Uuid>,
        seq: Option<i64>,
        created_at: OffsetDateTime,
    }
    /// A balance as it was read or as it becomes; entries explain it, so no digest covers it.
    BalanceRow as "account_balance_row" {
        account_id: Uuid,
        stripe: i16,
        posted: i64,
        floor: i64,
        version: i64,
        changed_at: OffsetDateTime,
        sent_day: Date,
        sent: i64,
        sent_transfers: i64,
        sent_total: i64,
        held: i64,
        frozen: bool,
        moment: i64,
    }
    TransferRow as "transfer_row" {
        transfer_id: Uuid,
        kind: String,
        owner: String,
        debit_account_id: Uuid,
        credit_account_id: Uuid,
        amount: i64,
        /// [`StatusRow`] covers it.
        status: Unsealed<String>,
        beneficiary_id: Option<Uuid>,
        beneficiary_name: Option<String>,
        beneficiary_bank: Option<String>,
        beneficiary_account_number: Option<String>,
        payee_key: Option<String>,
        spei_reference: Option<String>,
        reviewed: bool,
        rail: Option<String>,
        returns: Option<Uuid>,
        concept: Option<String>,
        numeric_reference: Option<i32>,
        payer_name: Option<String>,
        payer_account_number: Option<String>,
        payer_institution: Option<i32>,
        operating_date: Option<Date>,
        device: Option<String>,
        chain_id: Uuid,
        seq: i64,
        created_at: OffsetDateTime,
    }
    StatusRow as "transfer_event_row" {
        transfer_id: Uuid,
        ordinal: i16,
        status: String,
        reason: Option<String>,
        actor: Option<String>,
        note: Option<String>,
        chain_id: Uuid,
        seq: i64,
        created_at: OffsetDateTime,
    }
    EntryRow as "entry_row" {
        account_id: Uuid,
        stripe: i16,
        version: i64,
        transfer_id: Uuid,
        delta: i64,
        balance_after: i64,
        sent_transfers: i64,
        sent_total: i64,
        chain_id: Uuid,
        seq: i64,
        created_at: OffsetDateTime,
    }
    KeyRow as "idempotency_row" {
        owner: String,
        key: String,
        fingerprint: Vec<u8>,
        transfer_id: Option<Uuid>,
        hold_id: Option<Uuid>,
        rejection: Option<serde_json::Value>,
        refused_id: Option<Uuid>,
        chain_id: Uuid,
        seq: i64,
        created_at: OffsetDateTime,
    }
    HoldRow as "hold_row" {
        hold_id: Uuid,
        owner: String,
        account_id: Uuid,
        beneficiary_id: Uuid,
        beneficiary_name: String,
        amount: i64,
        /// [`HoldEndRow`] covers it.
        status: Unsealed<String>,
        expires_at: OffsetDateTime,
        chain_id: Uuid,
        seq: i64,
        created_at: OffsetDateTime,
    }
    HoldEndRow as "hold_end_row" {
        hold_id: Uuid,
        status: String,
        transfer_id: Option<Uuid>,
        chain_id: Uuid,
        seq: i64,
        created_at: OffsetDateTime,
    }
    AccountEventRow as "account_event_row" {
        account_id: Uuid,
        ordinal: i16,
        event: String,
        actor: String,
        reason: String,
        chain_id: Uuid,
        seq: i64,
        created_at: OffsetDateTime,
    }
    /// A payment to hand to a rail; the pending transfer covers it.
    PaymentRow as "rail_payment_row" {
        transfer_id: Uuid,
        rail: String,
        owner: String,
        turn: i32,
        attempts: i32,
        last_error: Option<String>,
        parked_at: Option<OffsetDateTime>,
        due_at: OffsetDateTime,
        seal: Vec<u8>,
    }
}

/// How many tables a batch's rows are in.
pub(crate) const TABLES: usize = 8;

/// The root of a tree over a batch's rows in each table.
pub(crate) type Digests = [Hash; TABLES];

/// The rows that a batch inserts, each table's in the order of its primary key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    pub(crate) accounts: Vec<AccountRow>,
    pub(crate) transfers: Vec<TransferRow>,
    pub(crate) statuses: Vec<StatusRow>,
    pub(crate) entries: Vec<EntryRow>,
    pub(crate) keys: Vec<KeyRow>,
    pub(crate) holds: Vec<HoldRow>,
    pub(crate) hold_ends: Vec<HoldEndRow>,
    pub(crate) account_events: Vec<AccountEventRow>,
}

impl Rows {
    pub(super) fn of(batch: &Batch, chain_id: Uuid, seq: i64, created_at: OffsetDateTime) -> Self {
        let accounts = batch.accounts.iter().map(|open| AccountRow {
            account_id: open.account_id,
            kind: CUSTOMER.to_owned(),
            owner: Some(open.owner.clone()),
            account_number: open.account_number.clone(),
            number_key: normalise(&open.account_number),
            account_type: open.account_type.clone(),
            currency: CURRENCY.to_owned(),
            issued: open.issued.map(Clabe::body),
            chain_id: Some(chain_id),
            seq: Some(seq),
            created_at,
        });
        let transfers = batch.transfers.iter().map(|new| {
            let transfer = new.transfer.clone();
            let (number, bank) = transfer.payee.map(|it| (it.number, it.bank)).unzip();
            let order = new.order.as_ref();
            TransferRow {
                transfer_id: transfer.transfer_id,
                kind: new.kind.as_str().to_owned(),
                owner: new.owner.clone(),
                debit_account_id: transfer.from_account_id,
                credit_account_id: new.credit_account_id,
                amount: transfer.amount.minor(),
                status: Unsealed(transfer.status.as_str().to_owned()),
                beneficiary_id: transfer.to_beneficiary_id,
                beneficiary_name: transfer.beneficiary_name.or_else(|| order?.payee_name.clone()),
                beneficiary_bank: bank,
                payee_key: number.as_deref().map(normalise),
                beneficiary_account_number: number.or_else(|| Some(order?.payee_number.clone())),
                spei_reference: transfer.spei_reference,
                reviewed: new.reviewed,
                rail: new.rail.map(|rail| rail.as_str().to_owned()),
                returns: new.returns,
                numeric_reference: transfer.remittance.stored_reference(),
                concept: transfer.remittance.concept,
                payer_name: order.and_then(|order| order.payer_name.clone()),
                payer_account_number: order.and_then(|order| order.payer_number.clone()),
                payer_institution: order.and_then(|order| order.institution.try_into().ok()),
                operating_date: order.map(|order| order.operating_date),
                device: new.device.clone(),
                chain_id,
                seq,
                created_at,
            }
        });
        let statuses = batch.statuses().map(|new| StatusRow {
            transfer_id: new.transfer_id,
            ordinal: new.ordinal,
            status: new.status.as_str().to_owned(),
            reason: new.reason.map(|reason| reason.as_str().to_owned()),
            actor: new.by_hand.map(|hand| hand.actor.clone()),
            note: new.by_hand.map(|hand| hand.note.clone()),
            chain_id,
            seq,
            created_at,
        });
        let entries = batch.entries.iter().map(|entry| EntryRow {
            account_id: entry.balance.0,
            stripe: entry.balance.1,
            version: entry.version,
            transfer_id: entry.transfer_id,
            delta: entry.delta.minor(),
            balance_after: entry.balance_after.minor(),
            sent_transfers: entry.sent_ever.transfers,
            sent_total: entry.sent_ever.total.minor(),
            chain_id,
            seq,
            created_at: entry.created_at,
        });
        let keys = batch.answers.iter().map(|((owner, key), answer)| KeyRow {
            owner: owner.clone(),
            key: key.clone(),
            fingerprint: answer.fingerprint.to_vec(),
            transfer_id: answer.outcome.as_ref().ok().and_then(Made::transfer_id),
            hold_id: answer.outcome.as_ref().ok().and_then(Made::hold_id),
            rejection: answer.outcome.as_ref().err().map(|it| rejection_to_json(&it.violations)),
            refused_id: answer.outcome.as_ref().err().map(|it| it.order_id),
            chain_id,
            seq,
            created_at,
        });
        let holds = batch.holds.iter().map(|owned| HoldRow {
            hold_id: owned.hold.hold_id,
            owner: owned.owner.clone(),
            account_id: owned.hold.account_id,
            beneficiary_id: owned.hold.beneficiary_id,
            beneficiary_name: owned.hold.beneficiary_name.clone(),
            amount: owned.hold.amount.minor(),
            status: Unsealed(owned.hold.status.as_str().to_owned()),
            expires_at: owned.hold.expires_at,
            chain_id,
            seq,
            created_at,
        });
        let hold_ends = batch.hold_ends.iter().map(|(&hold_id, end)| HoldEndRow {
            hold_id,
            status: end.status.as_str().to_owned(),
            transfer_id: end.transfer_id,
            chain_id,
            seq,
            created_at,
        });
        let account_events = batch.account_events.iter().map(|event| AccountEventRow {
            account_id: event.account_id,
            ordinal: event.ordinal,
            event: event.as_str().to_owned(),
            actor: event.actor.clone(),
            reason: event.reason.clone(),
            chain_id,
            seq,
            created_at,
        });
        let mut rows = Self {
            accounts: accounts.collect(),
            transfers: transfers.collect(),
            statuses: statuses.collect(),
            entries: entries.collect(),
            // These two are in order.
            keys: keys.collect(),
            hold_ends: hold_ends.collect(),
            holds: holds.collect(),
            account_events: account_events.collect(),
        };
        rows.accounts.sort_by_key(|row| row.account_id);
        rows.transfers.sort_by_key(|row| row.transfer_id);
        rows.statuses.sort_by_key(|row| row.transfer_id);
        rows.entries.sort_by_key(|row| (row.account_id, row.stripe, row.version));
        rows.holds.sort_by_key(|row| row.hold_id);
        rows.account_events.sort_by_key(|row| (row.account_id, row.ordinal));
        rows
    }

    /// How many rows of holds, of their ends and of account events.
    pub(super) fn operations(&self) -> usize {
        self.holds.len() + self.hold_ends.len() + self.account_events.len()
    }
}

impl BalanceRow {
    pub(super) fn of((account_id, stripe): BalanceKey, balance: &Balance) -> Self {
        Self {
            account_id,
            stripe,
            posted: balance.posted.minor(),
            floor: balance.floor.minor(),
            version: balance.version,
            changed_at: balance.changed_at,
            sent_day: balance.sent_day,
            sent: balance.sent.minor(),
            sent_transfers: balance.sent_ever.transfers,
            sent_total: balance.sent_ever.total.minor(),
            held: balance.held.minor(),
            frozen: balance.frozen,
            moment: balance.moment,
        }
    }
}

impl From<BalanceRow> for Balance {
    fn from(row: BalanceRow) -> Self {
        Self {
            posted: Money::from_minor(row.posted),
            held: Money::from_minor(row.held),
            frozen: row.frozen,
            floor: Money::from_minor(row.floor),
            version: row.version,
            changed_at: row.changed_at,
            sent_day: row.sent_day,
            sent: Money::from_minor(row.sent),
            sent_ever: Sent { transfers: row.sent_transfers, total: Money::from_minor(row.sent_total) },
            moment: row.moment,
        }
    }
}
