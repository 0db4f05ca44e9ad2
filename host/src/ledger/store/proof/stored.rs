//! Rows as they are stored, beside the header of their batch, and how they are compared with the digest in it.

use futures_util::{Stream, TryStreamExt as _};
use time::OffsetDateTime;
use uuid::Uuid;

use super::report::{Place, Proof};
use crate::ledger::chain::rows::{AccountRow, EntryRow, KeyRow, Row, StatusRow, TransferRow};
use crate::ledger::store::codec::{hash_from_bytes, rejection_from_json, rejection_to_json};
use crate::sealing::digest::{Digest, Hash};

/// A row of a table and its batch. A batch without rows in that table comes once, without a row.
pub(super) trait Stored: Sized {
    fn table() -> Table;

    fn check(self, table: &mut Table, proof: &mut Proof) -> Result<(), sqlx::Error>;
}

/// Compares rows, which arrive ordered by batch.
pub(super) async fn compare<S: Stored>(
    mut rows: impl Stream<Item = Result<S, sqlx::Error>> + Unpin,
    proof: &mut Proof,
) -> Result<(), sqlx::Error> {
    let mut table = S::table();
    while let Some(row) = rows.try_next().await? {
        row.check(&mut table, proof)?;
    }
    table.finish_batch(proof);
    Ok(())
}

/// Digests the rows of one table, which arrive ordered by batch.
pub(super) struct Table {
    domain: &'static [u8],
    complaint: &'static str,
    /// The current batch, its expected digest, and the actual one so far.
    batch: Option<(Place, Hash, Digest)>,
}

impl Table {
    pub(super) fn new<R: Row>(complaint: &'static str) -> Self {
        Self { domain: R::TABLE, complaint, batch: None }
    }

    /// `row` is `None` for a batch without rows in this table.
    pub(super) fn add(
        &mut self,
        proof: &mut Proof,
        place: Place,
        expected: &[u8],
        row: Option<&impl Row>,
    ) -> Result<(), sqlx::Error> {
        proof.watch.row(str::from_utf8(self.domain).unwrap_or_default());
        if self.batch.as_ref().is_none_or(|(current, ..)| *current != place) {
            self.finish_batch(proof);
            self.batch = Some((place, hash_from_bytes(expected.to_vec())?, Digest::new(self.domain)));
        }
        if let (Some((_, _, digest)), Some(row)) = (&mut self.batch, row) {
            row.add_to(digest);
        }
        Ok(())
    }

    fn finish_batch(&mut self, proof: &mut Proof) {
        let Some((place, expected, digest)) = self.batch.take() else { return };
        if digest.finish() != expected {
            proof.add(place, self.complaint);
        }
    }
}

pub(super) struct StoredAccount {
    pub(super) chain_id: Uuid,
    pub(super) seq: i64,
    pub(super) digest: Vec<u8>,
    pub(super) account_id: Option<Uuid>,
    pub(super) owner: Option<String>,
    pub(super) account_number: Option<String>,
    pub(super) number_key: Option<String>,
    pub(super) account_type: Option<String>,
    pub(super) created_at: Option<OffsetDateTime>,
    pub(super) issued: Option<i64>,
}

impl Stored for StoredAccount {
    fn table() -> Table {
        Table::new::<AccountRow<'_>>("its account rows were altered")
    }

    fn check(self, table: &mut Table, proof: &mut Proof) -> Result<(), sqlx::Error> {
        let account = self.account_id.zip(self.created_at).map(|(account_id, created_at)| AccountRow {
            account_id,
            owner: self.owner.as_deref().unwrap_or_default(),
            account_number: self.account_number.as_deref().unwrap_or_default(),
            number_key: self.number_key.as_deref().unwrap_or_default(),
            account_type: self.account_type.as_deref().unwrap_or_default(),
            created_at,
            issued: self.issued,
        });
        table.add(proof, (self.chain_id, self.seq), &self.digest, account.as_ref())
    }
}

pub(super) struct StoredTransfer {
    pub(super) chain_id: Uuid,
    pub(super) seq: i64,
    pub(super) digest: Vec<u8>,
    pub(super) transfer_id: Option<Uuid>,
    pub(super) kind: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) debit_account_id: Option<Uuid>,
    pub(super) credit_account_id: Option<Uuid>,
    pub(super) amount: Option<i64>,
    pub(super) beneficiary_id: Option<Uuid>,
    pub(super) beneficiary_name: Option<String>,
    pub(super) beneficiary_bank: Option<String>,
    pub(super) beneficiary_account_number: Option<String>,
    pub(super) payee_key: Option<String>,
    pub(super) spei_reference: Option<String>,
    pub(super) rail: Option<String>,
    pub(super) returns: Option<Uuid>,
    pub(super) concept: Option<String>,
    pub(super) numeric_reference: Option<i32>,
    pub(super) created_at: Option<OffsetDateTime>,
}

impl StoredTransfer {
    fn row(&self) -> Option<TransferRow<'_>> {
        Some(TransferRow {
            transfer_id: self.transfer_id?,
            kind: self.kind.as_deref().unwrap_or_default(),
            owner: self.owner.as_deref().unwrap_or_default(),
            debit_account_id: self.debit_account_id?,
            credit_account_id: self.credit_account_id?,
            amount: self.amount?,
            beneficiary_id: self.beneficiary_id,
            beneficiary_name: self.beneficiary_name.as_deref(),
            beneficiary_bank: self.beneficiary_bank.as_deref(),
            beneficiary_account_number: self.beneficiary_account_number.as_deref(),
            payee_key: self.payee_key.as_deref(),
            spei_reference: self.spei_reference.as_deref(),
            rail: self.rail.as_deref(),
            returns: self.returns,
            concept: self.concept.as_deref(),
            numeric_reference: self.numeric_reference,
            created_at: self.created_at?,
        })
    }
}

impl Stored for StoredTransfer {
    fn table() -> Table {
        Table::new::<TransferRow<'_>>("its transfer rows were altered")
    }

    fn check(self, table: &mut Table, proof: &mut Proof) -> Result<(), sqlx::Error> {
        table.add(proof, (self.chain_id, self.seq), &self.digest, self.row().as_ref())
    }
}

pub(super) struct StoredEntry {
    pub(super) chain_id: Uuid,
    pub(super) seq: i64,
    pub(super) digest: Vec<u8>,
    pub(super) account_id: Option<Uuid>,
    pub(super) stripe: Option<i16>,
    pub(super) version: Option<i64>,
    pub(super) transfer_id: Option<Uuid>,
    pub(super) delta: Option<i64>,
    pub(super) balance_after: Option<i64>,
    pub(super) created_at: Option<OffsetDateTime>,
}

impl StoredEntry {
    fn row(&self) -> Option<EntryRow> {
        Some(EntryRow {
            account_id: self.account_id?,
            stripe: self.stripe?,
            version: self.version?,
            transfer_id: self.transfer_id?,
            delta: self.delta?,
            balance_after: self.balance_after?,
            created_at: self.created_at?,
        })
    }
}

impl Stored for StoredEntry {
    fn table() -> Table {
        Table::new::<EntryRow>("its entry rows were altered")
    }

    fn check(self, table: &mut Table, proof: &mut Proof) -> Result<(), sqlx::Error> {
        table.add(proof, (self.chain_id, self.seq), &self.digest, self.row().as_ref())
    }
}

pub(super) struct StoredStatus {
    pub(super) chain_id: Uuid,
    pub(super) seq: i64,
    pub(super) digest: Vec<u8>,
    pub(super) transfer_id: Option<Uuid>,
    pub(super) ordinal: Option<i16>,
    pub(super) status: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) actor: Option<String>,
    pub(super) note: Option<String>,
    pub(super) created_at: Option<OffsetDateTime>,
}

impl StoredStatus {
    fn row(&self) -> Option<StatusRow<'_>> {
        Some(StatusRow {
            transfer_id: self.transfer_id?,
            ordinal: self.ordinal?,
            status: self.status.as_deref().unwrap_or_default(),
            reason: self.reason.as_deref(),
            actor: self.actor.as_deref(),
            note: self.note.as_deref(),
            created_at: self.created_at?,
        })
    }
}

impl Stored for StoredStatus {
    fn table() -> Table {
        Table::new::<StatusRow<'_>>("its transfer_event rows were altered")
    }

    fn check(self, table: &mut Table, proof: &mut Proof) -> Result<(), sqlx::Error> {
        table.add(proof, (self.chain_id, self.seq), &self.digest, self.row().as_ref())
    }
}

pub(super) struct StoredKey {
    pub(super) chain_id: Uuid,
    pub(super) seq: i64,
    pub(super) digest: Vec<u8>,
    pub(super) owner: Option<String>,
    pub(super) key: Option<String>,
    pub(super) fingerprint: Option<Vec<u8>>,
    pub(super) transfer_id: Option<Uuid>,
    pub(super) hold_id: Option<Uuid>,
    pub(super) rejection: Option<serde_json::Value>,
    pub(super) created_at: Option<OffsetDateTime>,
}

impl Stored for StoredKey {
    fn table() -> Table {
        Table::new::<KeyRow<'_>>("its idempotency rows were altered")
    }

    fn check(self, table: &mut Table, proof: &mut Proof) -> Result<(), sqlx::Error> {
        let place = (self.chain_id, self.seq);
        let rejection = self.rejection.as_ref().map(rejection_from_json).transpose().unwrap_or_default();
        // The digest does not cover unknown fields in the column.
        if self.rejection != rejection.as_deref().map(rejection_to_json) {
            proof.add(place, table.complaint);
        }
        let answer = self.created_at.map(|created_at| KeyRow {
            owner: self.owner.as_deref().unwrap_or_default(),
            key: self.key.as_deref().unwrap_or_default(),
            fingerprint: self.fingerprint.as_deref().unwrap_or_default(),
            transfer_id: self.transfer_id,
            hold_id: self.hold_id,
            rejection: rejection.as_deref(),
            created_at,
        });
        table.add(proof, place, &self.digest, answer.as_ref())
    }
}
