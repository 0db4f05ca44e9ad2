//! Compares each batch's rows, table by table, with the digests in its header.

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;

use super::report::{Place, Proof};
use crate::ledger::chain::rows::{AccountRow, EntryRow, KeyRow, Row, StatusRow, TransferRow};
use crate::ledger::store::codec::{hash_from_bytes, rejection_from_json, rejection_to_json};
use crate::sealing::digest::{Digest, Hash};

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
        expected: Option<Vec<u8>>,
        row: Option<&impl Row>,
    ) -> Result<(), sqlx::Error> {
        proof.watch.row(str::from_utf8(self.domain).unwrap_or_default());
        let Some(expected) = expected else {
            if let Some(row) = row {
                row.add_to(proof.unhashed.table(place, self.domain));
            }
            return Ok(());
        };
        if self.batch.as_ref().is_none_or(|(current, ..)| *current != place) {
            self.finish_batch(proof);
            self.batch = Some((place, hash_from_bytes(expected)?, Digest::new(self.domain)));
        }
        if let (Some((_, _, digest)), Some(row)) = (&mut self.batch, row) {
            row.add_to(digest);
        }
        Ok(())
    }

    pub(super) fn finish_batch(&mut self, proof: &mut Proof) {
        let Some((place, expected, digest)) = self.batch.take() else { return };
        if digest.finish() != expected {
            proof.add(place, self.complaint);
        }
    }
}

/// Compares the rows with the digests of their batches, and digests the rows of batches without a hash; with
/// `only_unhashed`, no others are read.
pub(super) async fn verify(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    accounts(db, only_unhashed, proof).await?;
    accounts_without_batch(db, proof).await?;
    transfers(db, only_unhashed, proof).await?;
    entries(db, only_unhashed, proof).await?;
    statuses(db, only_unhashed, proof).await?;
    keys(db, only_unhashed, proof).await
}

/// Accounts older than the record of who opened them, or opened by no batch at all.
async fn accounts_without_batch(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select a.account_id, a.owner as "owner!", a.account_number, a.number_key, a.account_type, a.created_at, a.issued
        from account a left join ledger_batch b using (chain_id, seq)
        where a.owner is not null and b.batch_id is null
        order by a.account_id
        "#
    )
    .fetch(db);
    let (mut count, mut digest) = (0, Digest::new(<AccountRow<'_> as Row>::TABLE));
    while let Some(row) = rows.try_next().await? {
        let account = AccountRow {
            account_id: row.account_id,
            owner: &row.owner,
            account_number: &row.account_number,
            number_key: &row.number_key,
            account_type: &row.account_type,
            created_at: row.created_at,
            issued: row.issued,
        };
        account.add_to(&mut digest);
        count += 1;
    }
    proof.unhashed.accounts = (count, digest.finish());
    Ok(())
}

async fn accounts(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<AccountRow<'_>>("its account rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.accounts_digest as digest, a.account_id as "account_id?", a.owner,
            a.account_number as "account_number?", a.number_key as "number_key?", a.account_type as "account_type?",
            a.created_at as "created_at?", a.issued
        from ledger_batch b left join account a using (chain_id, seq)
        where not $1::bool or b.hash is null
        order by b.chain_id, b.seq, a.account_id
        "#,
        only_unhashed,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let (owner, number) = (row.owner.unwrap_or_default(), row.account_number.unwrap_or_default());
        let (number_key, account_type) = (row.number_key.unwrap_or_default(), row.account_type.unwrap_or_default());
        let account = row.account_id.zip(row.created_at).map(|(account_id, created_at)| AccountRow {
            account_id,
            owner: &owner,
            account_number: &number,
            number_key: &number_key,
            account_type: &account_type,
            created_at,
            issued: row.issued,
        });
        table.add(proof, (row.chain_id, row.seq), row.digest, account.as_ref())?;
    }
    table.finish_batch(proof);
    Ok(())
}

async fn transfers(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<TransferRow<'_>>("its transfer rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.transfers_digest as digest, t.transfer_id as "transfer_id?", t.kind as "kind?",
            t.owner as "owner?", t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?",
            t.amount as "amount?", t.beneficiary_id, t.beneficiary_name, t.beneficiary_bank,
            t.beneficiary_account_number, t.payee_key, t.spei_reference, t.rail, t.returns,
            t.created_at as "created_at?"
        from ledger_batch b left join transfer t using (chain_id, seq)
        where not $1::bool or b.hash is null
        order by b.chain_id, b.seq, t.transfer_id
        "#,
        only_unhashed,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let transfer = match (row.transfer_id, row.debit_account_id, row.credit_account_id, row.amount, row.created_at)
        {
            (Some(transfer_id), Some(debit_account_id), Some(credit_account_id), Some(amount), Some(created_at)) => {
                Some(TransferRow {
                    transfer_id,
                    kind: row.kind.as_deref().unwrap_or_default(),
                    owner: row.owner.as_deref().unwrap_or_default(),
                    debit_account_id,
                    credit_account_id,
                    amount,
                    beneficiary_id: row.beneficiary_id,
                    beneficiary_name: row.beneficiary_name.as_deref(),
                    beneficiary_bank: row.beneficiary_bank.as_deref(),
                    beneficiary_account_number: row.beneficiary_account_number.as_deref(),
                    payee_key: row.payee_key.as_deref(),
                    spei_reference: row.spei_reference.as_deref(),
                    rail: row.rail.as_deref(),
                    returns: row.returns,
                    created_at,
                })
            }
            _ => None,
        };
        table.add(proof, (row.chain_id, row.seq), row.digest, transfer.as_ref())?;
    }
    table.finish_batch(proof);
    Ok(())
}

async fn entries(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<EntryRow>("its entry rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.entries_digest as digest, e.account_id as "account_id?", e.stripe as "stripe?",
            e.version as "version?", e.transfer_id as "transfer_id?", e.delta as "delta?",
            e.balance_after as "balance_after?", e.created_at as "created_at?"
        from ledger_batch b left join entry e using (chain_id, seq)
        where not $1::bool or b.hash is null
        order by b.chain_id, b.seq, e.account_id, e.stripe, e.version
        "#,
        only_unhashed,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let key = row.account_id.zip(row.stripe).zip(row.version).zip(row.transfer_id);
        let values = row.delta.zip(row.balance_after).zip(row.created_at);
        let entry = key.zip(values).map(
            |((((account_id, stripe), version), transfer_id), ((delta, balance_after), created_at))| EntryRow {
                account_id,
                stripe,
                version,
                transfer_id,
                delta,
                balance_after,
                created_at,
            },
        );
        table.add(proof, (row.chain_id, row.seq), row.digest, entry.as_ref())?;
    }
    table.finish_batch(proof);
    Ok(())
}

async fn statuses(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<StatusRow<'_>>("its transfer_event rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.statuses_digest as digest, v.transfer_id as "transfer_id?", v.ordinal as "ordinal?",
            v.status as "status?", v.reason, v.actor, v.note, v.created_at as "created_at?"
        from ledger_batch b left join transfer_event v using (chain_id, seq)
        where not $1::bool or b.hash is null
        order by b.chain_id, b.seq, v.transfer_id, v.ordinal
        "#,
        only_unhashed,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let key = row.transfer_id.zip(row.ordinal).zip(row.created_at);
        let event = key.map(|((transfer_id, ordinal), created_at)| StatusRow {
            transfer_id,
            ordinal,
            status: row.status.as_deref().unwrap_or_default(),
            reason: row.reason.as_deref(),
            actor: row.actor.as_deref(),
            note: row.note.as_deref(),
            created_at,
        });
        table.add(proof, (row.chain_id, row.seq), row.digest, event.as_ref())?;
    }
    table.finish_batch(proof);
    Ok(())
}

async fn keys(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<KeyRow<'_>>("its idempotency rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.keys_digest as digest, i.owner as "owner?", i.key as "key?",
            i.fingerprint as "fingerprint?", i.transfer_id, i.hold_id, i.rejection, i.created_at as "created_at?"
        from ledger_batch b left join idempotency i using (chain_id, seq)
        where not $1::bool or b.hash is null
        order by b.chain_id, b.seq, i.owner collate "C", i.key collate "C"
        "#,
        only_unhashed,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let place = (row.chain_id, row.seq);
        let rejection = row.rejection.as_ref().map(rejection_from_json).transpose();
        let rejection = rejection.unwrap_or_default();
        // The digest does not cover unknown fields in the column.
        if row.rejection != rejection.as_deref().map(rejection_to_json) {
            proof.add(place, table.complaint);
        }
        let fingerprint = row.fingerprint.unwrap_or_default();
        let (owner, key) = (row.owner.unwrap_or_default(), row.key.unwrap_or_default());
        let answer = row.created_at.map(|created_at| KeyRow {
            owner: &owner,
            key: &key,
            fingerprint: &fingerprint,
            transfer_id: row.transfer_id,
            hold_id: row.hold_id,
            rejection: rejection.as_deref(),
            created_at,
        });
        table.add(proof, place, row.digest, answer.as_ref())?;
    }
    table.finish_batch(proof);
    Ok(())
}
