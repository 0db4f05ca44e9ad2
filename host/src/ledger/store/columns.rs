//! A batch as columns: one array for each parameter of the commit statement.

use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::codec::rejection_to_json;
use crate::domain::account_number::normalise;
use crate::domain::hold::OwnedHold;
use crate::domain::transfer::Status;
use crate::ledger::batch::{Answer, Batch, Made, NewTransfer};

macro_rules! columns {
    ($name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        #[derive(Default)]
        pub(super) struct $name { $(pub(super) $field: Vec<$type>),+ }
    };
}

columns!(Users { owners: String, expected: i64 });

impl Users {
    pub(super) fn of(batch: &Batch) -> Self {
        let (owners, expected) = batch.users.iter().map(|(owner, version)| (owner.clone(), *version)).unzip();
        Self { owners, expected }
    }
}

columns!(Balances {
    accounts: Uuid,
    stripes: i16,
    expected: i64,
    expected_held: i64,
    expected_frozen: bool,
    versions: i64,
    posted: i64,
    held: i64,
    frozen: bool,
    changed_at: OffsetDateTime,
    sent_days: Date,
    sent: i64,
});

impl Balances {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for (&(account, stripe), change) in &batch.balances {
            rows.accounts.push(account);
            rows.stripes.push(stripe);
            rows.expected.push(change.before.version);
            rows.expected_held.push(change.before.held.minor());
            rows.expected_frozen.push(change.before.frozen);
            rows.versions.push(change.after.version);
            rows.posted.push(change.after.posted.minor());
            rows.held.push(change.after.held.minor());
            rows.frozen.push(change.after.frozen);
            rows.changed_at.push(change.after.changed_at);
            rows.sent_days.push(change.after.sent_day);
            rows.sent.push(change.after.sent.minor());
        }
        rows
    }
}

columns!(Transfers {
    ids: Uuid,
    kinds: String,
    owners: String,
    debits: Uuid,
    credits: Uuid,
    amounts: i64,
    statuses: String,
    payees: Option<Uuid>,
    names: Option<String>,
    banks: Option<String>,
    numbers: Option<String>,
    payee_keys: Option<String>,
    references: Option<String>,
    rails: Option<String>,
    returns: Option<Uuid>,
    concepts: Option<String>,
    numeric_references: Option<i32>,
});

impl Transfers {
    pub(super) fn of(transfers: &[NewTransfer]) -> Self {
        let mut rows = Self::default();
        for new in transfers {
            let transfer = &new.transfer;
            let (number, bank) = new.payee.clone().unzip();
            rows.ids.push(transfer.transfer_id);
            rows.kinds.push(new.kind.as_str().to_owned());
            rows.owners.push(new.owner.clone());
            rows.debits.push(transfer.from_account_id);
            rows.credits.push(new.credit_account_id);
            rows.amounts.push(transfer.amount.minor());
            rows.statuses.push(transfer.status.as_str().to_owned());
            rows.payees.push(transfer.to_beneficiary_id);
            rows.names.push(transfer.beneficiary_name.clone());
            rows.payee_keys.push(number.as_deref().map(normalise));
            rows.banks.push(bank);
            rows.numbers.push(number);
            rows.references.push(transfer.spei_reference.clone());
            rows.rails.push(new.rail.map(|rail| rail.as_str().to_owned()));
            rows.returns.push(new.returns);
            rows.concepts.push(transfer.remittance.concept.clone());
            rows.numeric_references.push(transfer.remittance.stored_reference());
        }
        rows
    }
}

columns!(Statuses {
    transfers: Uuid,
    ordinals: i16,
    statuses: String,
    reasons: Option<String>,
    actors: Option<String>,
    notes: Option<String>,
});

impl Statuses {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for new in batch.statuses() {
            rows.transfers.push(new.transfer_id);
            rows.ordinals.push(new.ordinal);
            rows.statuses.push(new.status.as_str().to_owned());
            rows.reasons.push(new.reason.map(|reason| reason.as_str().to_owned()));
            rows.actors.push(new.by_hand.map(|hand| hand.actor.clone()));
            rows.notes.push(new.by_hand.map(|hand| hand.note.clone()));
        }
        rows
    }
}

columns!(Moves { transfers: Uuid, statuses: String });

impl Moves {
    pub(super) fn of(batch: &Batch) -> Self {
        let moves = batch.moves.iter().map(|(id, step)| (*id, step.status.as_str().to_owned()));
        let (transfers, statuses) = moves.unzip();
        Self { transfers, statuses }
    }
}

columns!(Payments { transfers: Uuid, rails: String, owners: String, turns: i32 });

impl Payments {
    /// Transfers to hand over to a rail.
    pub(super) fn of(batch: &Batch) -> Self {
        let pending = batch.transfers.iter().filter(|new| new.transfer.status == Status::Pending);
        let payment = |new: &NewTransfer| {
            Some((new.transfer.transfer_id, new.rail?.as_str().to_owned(), new.owner.clone(), new.turn))
        };
        let (transfers, rails, owners, turns) = pending.filter_map(payment).collect();
        Self { transfers, rails, owners, turns }
    }
}

columns!(Entries {
    accounts: Uuid,
    stripes: i16,
    versions: i64,
    transfers: Uuid,
    deltas: i64,
    balances: i64,
    created_at: OffsetDateTime,
});

impl Entries {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for entry in &batch.entries {
            rows.accounts.push(entry.balance.0);
            rows.stripes.push(entry.balance.1);
            rows.versions.push(entry.version);
            rows.transfers.push(entry.transfer_id);
            rows.deltas.push(entry.delta.minor());
            rows.balances.push(entry.balance_after.minor());
            rows.created_at.push(entry.created_at);
        }
        rows
    }
}

columns!(Keys {
    owners: String,
    keys: String,
    fingerprints: Vec<u8>,
    transfers: Option<Uuid>,
    holds: Option<Uuid>,
    rejections: Option<serde_json::Value>,
});

impl Keys {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for ((owner, key), Answer { fingerprint, outcome }) in &batch.answers {
            rows.owners.push(owner.clone());
            rows.keys.push(key.clone());
            rows.fingerprints.push(fingerprint.to_vec());
            rows.transfers.push(outcome.as_ref().ok().and_then(Made::transfer_id));
            rows.holds.push(outcome.as_ref().ok().and_then(Made::hold_id));
            rows.rejections.push(outcome.as_ref().err().map(|violations| rejection_to_json(violations)));
        }
        rows
    }
}

columns!(Holds {
    ids: Uuid,
    owners: String,
    accounts: Uuid,
    beneficiaries: Uuid,
    names: String,
    amounts: i64,
    statuses: String,
    expires_at: OffsetDateTime,
});

impl Holds {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for OwnedHold { owner, hold } in &batch.holds {
            rows.ids.push(hold.hold_id);
            rows.owners.push(owner.clone());
            rows.accounts.push(hold.account_id);
            rows.beneficiaries.push(hold.beneficiary_id);
            rows.names.push(hold.beneficiary_name.clone());
            rows.amounts.push(hold.amount.minor());
            rows.statuses.push(hold.status.as_str().to_owned());
            rows.expires_at.push(hold.expires_at);
        }
        rows
    }
}

columns!(HoldEnds { ids: Uuid, statuses: String, transfers: Option<Uuid> });

impl HoldEnds {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for (&hold_id, end) in &batch.hold_ends {
            rows.ids.push(hold_id);
            rows.statuses.push(end.status.as_str().to_owned());
            rows.transfers.push(end.transfer_id);
        }
        rows
    }
}

columns!(AccountEvents { accounts: Uuid, ordinals: i16, events: String, actors: String, reasons: String });

impl AccountEvents {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for event in &batch.account_events {
            rows.accounts.push(event.account_id);
            rows.ordinals.push(event.ordinal);
            rows.events.push(event.as_str().to_owned());
            rows.actors.push(event.actor.clone());
            rows.reasons.push(event.reason.clone());
        }
        rows
    }
}
