//! The rows of a batch and their digests, computed the same way before a write and after reading back.

use std::collections::BTreeMap;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::account_number::normalise;
use crate::domain::clabe::Clabe;
use crate::domain::rules::Violation;
use crate::ledger::batch::{Batch, Made};
use crate::sealing::digest::{Digest, Hash};

/// A row that the chain covers.
pub(crate) trait Row {
    /// Separates the digests of different tables.
    const TABLE: &'static [u8];

    fn add_to(&self, digest: &mut Digest);
}

pub(super) fn digest<R: Row>(rows: impl IntoIterator<Item = R>) -> Hash {
    let mut digest = Digest::new(R::TABLE);
    rows.into_iter().for_each(|row| row.add_to(&mut digest));
    digest.finish()
}

/// Ordered by id.
pub(crate) struct AccountRow<'a> {
    pub(crate) account_id: Uuid,
    pub(crate) owner: &'a str,
    pub(crate) account_number: &'a str,
    pub(crate) number_key: &'a str,
    pub(crate) account_type: &'a str,
    pub(crate) created_at: OffsetDateTime,
    pub(crate) issued: Option<i64>,
}

impl Row for AccountRow<'_> {
    const TABLE: &'static [u8] = b"account";

    fn add_to(&self, digest: &mut Digest) {
        digest.uuid(self.account_id);
        [self.owner, self.account_number, self.number_key, self.account_type].iter().for_each(|text| digest.text(text));
        digest.time(self.created_at);
        digest.optional_int(self.issued);
    }
}

pub(super) fn accounts(batch: &Batch, created_at: OffsetDateTime) -> Hash {
    let mut accounts: Vec<_> = batch.accounts.iter().collect();
    accounts.sort_by_key(|open| open.account_id);
    let keys: Vec<_> = accounts.iter().map(|open| normalise(&open.account_number)).collect();
    digest(accounts.iter().zip(&keys).map(|(open, number_key)| AccountRow {
        account_id: open.account_id,
        owner: &open.owner,
        account_number: &open.account_number,
        number_key,
        account_type: &open.account_type,
        created_at,
        issued: open.issued.map(Clabe::body),
    }))
}

/// A row of `transfer` without its status, which changes; [`StatusRow`] covers that. Ordered by id.
pub(crate) struct TransferRow<'a> {
    pub(crate) transfer_id: Uuid,
    pub(crate) kind: &'a str,
    pub(crate) owner: &'a str,
    pub(crate) debit_account_id: Uuid,
    pub(crate) credit_account_id: Uuid,
    pub(crate) amount: i64,
    pub(crate) beneficiary_id: Option<Uuid>,
    pub(crate) beneficiary_name: Option<&'a str>,
    pub(crate) beneficiary_bank: Option<&'a str>,
    pub(crate) beneficiary_account_number: Option<&'a str>,
    pub(crate) payee_key: Option<&'a str>,
    pub(crate) spei_reference: Option<&'a str>,
    pub(crate) rail: Option<&'a str>,
    pub(crate) returns: Option<Uuid>,
    pub(crate) concept: Option<&'a str>,
    pub(crate) numeric_reference: Option<i32>,
    pub(crate) created_at: OffsetDateTime,
}

impl Row for TransferRow<'_> {
    const TABLE: &'static [u8] = b"transfer";

    fn add_to(&self, digest: &mut Digest) {
        digest.uuid(self.transfer_id);
        digest.text(self.kind);
        digest.text(self.owner);
        digest.uuid(self.debit_account_id);
        digest.uuid(self.credit_account_id);
        digest.int(self.amount);
        digest.optional_uuid(self.beneficiary_id);
        let payee = [self.beneficiary_name, self.beneficiary_bank, self.beneficiary_account_number, self.payee_key];
        payee.iter().for_each(|text| digest.optional_text(*text));
        digest.optional_text(self.spei_reference);
        digest.optional_text(self.rail);
        digest.optional_uuid(self.returns);
        digest.optional_text(self.concept);
        digest.optional_int(self.numeric_reference.map(i64::from));
        digest.time(self.created_at);
    }
}

pub(super) fn transfers(batch: &Batch, created_at: OffsetDateTime) -> Hash {
    let mut transfers: Vec<_> = batch.transfers.iter().collect();
    transfers.sort_by_key(|new| new.transfer.transfer_id);
    let payee_keys: Vec<_> =
        transfers.iter().map(|new| new.payee.as_ref().map(|(number, _)| normalise(number))).collect();
    digest(transfers.iter().zip(&payee_keys).map(|(new, payee_key)| TransferRow {
        transfer_id: new.transfer.transfer_id,
        kind: new.kind.as_str(),
        owner: &new.owner,
        debit_account_id: new.transfer.from_account_id,
        credit_account_id: new.credit_account_id,
        amount: new.transfer.amount.minor(),
        beneficiary_id: new.transfer.to_beneficiary_id,
        beneficiary_name: new.transfer.beneficiary_name.as_deref(),
        beneficiary_bank: new.payee.as_ref().map(|(_, bank)| bank.as_str()),
        beneficiary_account_number: new.payee.as_ref().map(|(number, _)| number.as_str()),
        payee_key: payee_key.as_deref(),
        spei_reference: new.transfer.spei_reference.as_deref(),
        rail: new.rail.map(|rail| rail.as_str()),
        returns: new.returns,
        concept: new.transfer.remittance.concept.as_deref(),
        numeric_reference: new.transfer.remittance.stored_reference(),
        created_at,
    }))
}

/// Ordered by account, stripe and version.
pub(crate) struct EntryRow {
    pub(crate) account_id: Uuid,
    pub(crate) stripe: i16,
    pub(crate) version: i64,
    pub(crate) transfer_id: Uuid,
    pub(crate) delta: i64,
    pub(crate) balance_after: i64,
    pub(crate) created_at: OffsetDateTime,
}

impl Row for EntryRow {
    const TABLE: &'static [u8] = b"entry";

    fn add_to(&self, digest: &mut Digest) {
        digest.uuid(self.account_id);
        digest.int(i64::from(self.stripe));
        digest.int(self.version);
        digest.uuid(self.transfer_id);
        digest.int(self.delta);
        digest.int(self.balance_after);
        digest.time(self.created_at);
    }
}

pub(super) fn entries(batch: &Batch) -> Hash {
    let mut entries: Vec<_> = batch.entries.iter().collect();
    entries.sort_by_key(|entry| (entry.balance, entry.version));
    digest(entries.into_iter().map(|entry| EntryRow {
        account_id: entry.balance.0,
        stripe: entry.balance.1,
        version: entry.version,
        transfer_id: entry.transfer_id,
        delta: entry.delta.minor(),
        balance_after: entry.balance_after.minor(),
        created_at: entry.created_at,
    }))
}

/// A row of `transfer_event`, ordered by transfer and ordinal.
pub(crate) struct StatusRow<'a> {
    pub(crate) transfer_id: Uuid,
    pub(crate) ordinal: i16,
    pub(crate) status: &'a str,
    pub(crate) reason: Option<&'a str>,
    pub(crate) actor: Option<&'a str>,
    pub(crate) note: Option<&'a str>,
    pub(crate) created_at: OffsetDateTime,
}

impl Row for StatusRow<'_> {
    const TABLE: &'static [u8] = b"transfer_event";

    fn add_to(&self, digest: &mut Digest) {
        digest.uuid(self.transfer_id);
        digest.int(i64::from(self.ordinal));
        digest.text(self.status);
        [self.reason, self.actor, self.note].iter().for_each(|text| digest.optional_text(*text));
        digest.time(self.created_at);
    }
}

/// The ids of transfers with a new status, in ascending order, and the digest of those statuses.
pub(super) fn statuses(batch: &Batch, created_at: OffsetDateTime) -> (Vec<Uuid>, Hash) {
    let statuses: BTreeMap<_, _> = batch.statuses().map(|new| (new.transfer_id, new)).collect();
    let digest = digest(statuses.values().map(|new| StatusRow {
        transfer_id: new.transfer_id,
        ordinal: new.ordinal,
        status: new.status.as_str(),
        reason: new.reason.as_ref().map(|reason| reason.as_str()),
        actor: new.by_hand.map(|hand| hand.actor.as_str()),
        note: new.by_hand.map(|hand| hand.note.as_str()),
        created_at,
    }));
    (statuses.into_keys().collect(), digest)
}

/// A row of `idempotency`, ordered by the bytes of owner and key.
pub(crate) struct KeyRow<'a> {
    pub(crate) owner: &'a str,
    pub(crate) key: &'a str,
    pub(crate) fingerprint: &'a [u8],
    pub(crate) transfer_id: Option<Uuid>,
    pub(crate) hold_id: Option<Uuid>,
    pub(crate) rejection: Option<&'a [Violation]>,
    pub(crate) created_at: OffsetDateTime,
}

impl Row for KeyRow<'_> {
    const TABLE: &'static [u8] = b"idempotency";

    fn add_to(&self, digest: &mut Digest) {
        digest.text(self.owner);
        digest.text(self.key);
        digest.bytes(self.fingerprint);
        digest.optional_uuid(self.transfer_id);
        digest.optional_uuid(self.hold_id);
        digest.int(self.rejection.map_or(-1, |violations| i64::try_from(violations.len()).unwrap_or(i64::MAX)));
        for violation in self.rejection.unwrap_or_default() {
            digest.text(&violation.code);
            digest.text(&violation.detail);
        }
        digest.time(self.created_at);
    }
}

pub(super) fn keys(batch: &Batch, created_at: OffsetDateTime) -> Hash {
    digest(batch.answers.iter().map(|((owner, key), answer)| KeyRow {
        owner,
        key,
        fingerprint: &answer.fingerprint,
        transfer_id: answer.outcome.as_ref().ok().and_then(Made::transfer_id),
        hold_id: answer.outcome.as_ref().ok().and_then(Made::hold_id),
        rejection: answer.outcome.as_ref().err().map(Vec::as_slice),
        created_at,
    }))
}
