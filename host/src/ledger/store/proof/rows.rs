//! Compares each batch's rows, table by table, with the digests in its header.

use sqlx::PgConnection;

use super::report::Proof;
use super::stored::{StoredAccount, StoredEntry, StoredKey, StoredStatus, StoredTransfer, compare};

/// Compares the rows with the digests of their batches.
pub(super) async fn verify(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    accounts(db, proof).await?;
    accounts_without_batch(db, proof).await?;
    transfers(db, proof).await?;
    entries(db, proof).await?;
    statuses(db, proof).await?;
    keys(db, proof).await
}

async fn accounts_without_batch(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let accounts = sqlx::query_scalar!(
        r#"
        select a.account_id from account a left join ledger_batch b using (chain_id, seq)
        where a.owner is not null and b.batch_id is null
        order by a.account_id
        "#
    );
    for account_id in accounts.fetch_all(db).await? {
        proof.records.add(format!("account {account_id}: no batch opened it"));
    }
    Ok(())
}

async fn accounts(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredAccount,
        r#"
        select b.chain_id, b.seq, b.accounts_digest as digest, a.account_id as "account_id?", a.owner,
            a.account_number as "account_number?", a.number_key as "number_key?", a.account_type as "account_type?",
            a.created_at as "created_at?", a.issued
        from ledger_batch b left join account a using (chain_id, seq)
        order by b.chain_id, b.seq, a.account_id
        "#,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn transfers(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredTransfer,
        r#"
        select b.chain_id, b.seq, b.transfers_digest as digest, t.transfer_id as "transfer_id?", t.kind as "kind?",
            t.owner as "owner?", t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?",
            t.amount as "amount?", t.beneficiary_id, t.beneficiary_name, t.beneficiary_bank,
            t.beneficiary_account_number, t.payee_key, t.spei_reference, t.rail, t.returns,
            t.concept, t.numeric_reference, t.created_at as "created_at?"
        from ledger_batch b left join transfer t using (chain_id, seq)
        order by b.chain_id, b.seq, t.transfer_id
        "#,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn entries(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredEntry,
        r#"
        select b.chain_id, b.seq, b.entries_digest as digest, e.account_id as "account_id?", e.stripe as "stripe?",
            e.version as "version?", e.transfer_id as "transfer_id?", e.delta as "delta?",
            e.balance_after as "balance_after?", e.created_at as "created_at?"
        from ledger_batch b left join entry e using (chain_id, seq)
        order by b.chain_id, b.seq, e.account_id, e.stripe, e.version
        "#,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn statuses(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredStatus,
        r#"
        select b.chain_id, b.seq, b.statuses_digest as digest, v.transfer_id as "transfer_id?", v.ordinal as "ordinal?",
            v.status as "status?", v.reason, v.actor, v.note, v.created_at as "created_at?"
        from ledger_batch b left join transfer_event v using (chain_id, seq)
        order by b.chain_id, b.seq, v.transfer_id, v.ordinal
        "#,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn keys(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredKey,
        r#"
        select b.chain_id, b.seq, b.keys_digest as digest, i.owner as "owner?", i.key as "key?",
            i.fingerprint as "fingerprint?", i.transfer_id, i.hold_id, i.rejection, i.created_at as "created_at?"
        from ledger_batch b left join idempotency i using (chain_id, seq)
        order by b.chain_id, b.seq, i.owner collate "C", i.key collate "C"
        "#,
    )
    .fetch(db);
    compare(rows, proof).await
}
