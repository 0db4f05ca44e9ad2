//! The rows of a batch as bytes: the same from what is to be written and from what is read back.
//!
//! Each field is written with its length or in a fixed width, so that no two different rows give the same bytes.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use uuid::Uuid;

use super::super::batch::Batch;
use super::Hash;
use crate::domain::account_number::normalise;
use crate::domain::rules::Violation;

/// A running SHA-256 over fields.
pub struct Digest(Sha256);

impl Digest {
    /// Starts with a name, so that rows of one table are never those of another.
    pub fn new(name: &[u8]) -> Self {
        let mut digest = Self(Sha256::new());
        digest.bytes(name);
        digest
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    pub(super) fn int(&mut self, value: i64) {
        self.0.update(value.to_be_bytes());
    }

    pub(super) fn uuid(&mut self, id: Uuid) {
        self.0.update(id.as_bytes());
    }

    /// To the microsecond, which is what the database keeps.
    pub(super) fn time(&mut self, at: OffsetDateTime) {
        self.0.update((at.unix_timestamp_nanos() / 1_000).to_be_bytes());
    }

    fn optional_bytes(&mut self, bytes: Option<&[u8]>) {
        self.0.update([u8::from(bytes.is_some())]);
        if let Some(bytes) = bytes {
            self.bytes(bytes);
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn optional_text(&mut self, text: Option<&str>) {
        self.optional_bytes(text.map(str::as_bytes));
    }

    fn optional_uuid(&mut self, id: Option<Uuid>) {
        self.optional_bytes(id.as_ref().map(|id| &id.as_bytes()[..]));
    }

    /// The digest.
    pub fn finish(self) -> Hash {
        self.0.finalize().into()
    }
}

/// A table whose rows the chain covers.
pub trait Row {
    /// What its digest begins with.
    const TABLE: &'static [u8];

    /// Adds the row.
    fn add_to(&self, digest: &mut Digest);
}

fn digest<R: Row>(rows: impl IntoIterator<Item = R>) -> Hash {
    let mut digest = Digest::new(R::TABLE);
    rows.into_iter().for_each(|row| row.add_to(&mut digest));
    digest.finish()
}

/// A row of `account`; the id comes first in the order of rows.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are the columns of the migration")]
pub struct AccountRow<'a> {
    pub account_id: Uuid,
    pub owner: &'a str,
    pub account_number: &'a str,
    pub number_key: &'a str,
    pub account_type: &'a str,
    pub created_at: OffsetDateTime,
}

impl Row for AccountRow<'_> {
    const TABLE: &'static [u8] = b"account";

    fn add_to(&self, digest: &mut Digest) {
        digest.uuid(self.account_id);
        [self.owner, self.account_number, self.number_key, self.account_type].iter().for_each(|text| digest.text(text));
        digest.time(self.created_at);
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
    }))
}

/// A row of `transfer` without its status, which moves: `transfer_event` tells it. In the order of ids.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are the columns of the migrations")]
pub struct TransferRow<'a> {
    pub transfer_id: Uuid,
    pub kind: &'a str,
    pub owner: &'a str,
    pub debit_account_id: Uuid,
    pub credit_account_id: Uuid,
    pub amount: i64,
    pub beneficiary_id: Option<Uuid>,
    pub beneficiary_name: Option<&'a str>,
    pub beneficiary_bank: Option<&'a str>,
    pub beneficiary_account_number: Option<&'a str>,
    pub payee_key: Option<&'a str>,
    pub spei_reference: Option<&'a str>,
    pub rail: Option<&'a str>,
    pub returns: Option<Uuid>,
    pub created_at: OffsetDateTime,
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
        created_at,
    }))
}

/// A row of `entry`, in the order of account, stripe, version.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are the columns of the migration")]
pub struct EntryRow {
    pub account_id: Uuid,
    pub stripe: i16,
    pub version: i64,
    pub transfer_id: Uuid,
    pub delta: i64,
    pub balance_after: i64,
    pub created_at: OffsetDateTime,
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

/// A row of `transfer_event`, in the order of transfer and ordinal.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are the columns of the migrations")]
pub struct StatusRow<'a> {
    pub transfer_id: Uuid,
    pub ordinal: i16,
    pub status: &'a str,
    pub reason: Option<&'a str>,
    pub created_at: OffsetDateTime,
}

impl Row for StatusRow<'_> {
    const TABLE: &'static [u8] = b"transfer_event";

    fn add_to(&self, digest: &mut Digest) {
        digest.uuid(self.transfer_id);
        digest.int(i64::from(self.ordinal));
        digest.text(self.status);
        digest.optional_text(self.reason);
        digest.time(self.created_at);
    }
}

/// The transfers that get a status, and the digest over these.
pub(super) fn statuses(batch: &Batch, created_at: OffsetDateTime) -> (Vec<Uuid>, Hash) {
    let first = batch.transfers.iter().map(|new| (new.transfer.transfer_id, (0, new.transfer.status, new.reason)));
    let last = batch.moves.iter().map(|(id, step)| (*id, (step.ordinal, step.status, step.reason)));
    let statuses: BTreeMap<_, _> = first.chain(last).collect();
    let digest = digest(statuses.iter().map(|(&transfer_id, (ordinal, status, reason))| StatusRow {
        transfer_id,
        ordinal: *ordinal,
        status: status.as_str(),
        reason: reason.as_ref().map(|reason| reason.as_str()),
        created_at,
    }));
    (statuses.into_keys().collect(), digest)
}

/// A row of `idempotency`, in the order of the bytes of owner and key.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are the columns of the migration")]
pub struct KeyRow<'a> {
    pub owner: &'a str,
    pub key: &'a str,
    pub fingerprint: &'a [u8],
    pub transfer_id: Option<Uuid>,
    pub rejection: Option<&'a [Violation]>,
    pub created_at: OffsetDateTime,
}

impl Row for KeyRow<'_> {
    const TABLE: &'static [u8] = b"idempotency";

    fn add_to(&self, digest: &mut Digest) {
        digest.text(self.owner);
        digest.text(self.key);
        digest.bytes(self.fingerprint);
        digest.optional_uuid(self.transfer_id);
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
        transfer_id: answer.outcome.as_ref().ok().map(|transfer| transfer.transfer_id),
        rejection: answer.outcome.as_ref().err().map(Vec::as_slice),
        created_at,
    }))
}
