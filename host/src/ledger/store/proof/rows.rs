//! Compares each batch's rows, table by table, with the digests in its header.

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;

use super::report::Proof;
use super::stored::{StoredAccount, StoredEntry, StoredKey, StoredStatus, StoredTransfer, compare};
use crate::ledger::chain::rows::{AccountRow, Row};
use crate::sealing::digest::Digest;

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
    let rows = sqlx::query_as!(
        StoredAccount,
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
    compare(rows, proof).await
}

async fn transfers(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredTransfer,
        r#"
        select b.chain_id, b.seq, b.transfers_digest as digest, t.transfer_id as "transfer_id?", t.kind as "kind?",
            t.owner as "owner?", t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?",
            t.amount as "amount?", t.beneficiary_id, t.beneficiary_name, t.beneficiary_bank,
            t.beneficiary_account_number, t.payee_key, t.spei_reference, t.rail, t.returns,
            t.concept, t.numeric_reference, t.created_at as "created_at?"
        from ledger_batch b left join transfer t using (chain_id, seq)
        where not $1::bool or b.hash is null
        order by b.chain_id, b.seq, t.transfer_id
        "#,
        only_unhashed,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn entries(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredEntry,
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
    compare(rows, proof).await
}

async fn statuses(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredStatus,
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
    compare(rows, proof).await
}

async fn keys(db: &mut PgConnection, only_unhashed: bool, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredKey,
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
    compare(rows, proof).await
}
