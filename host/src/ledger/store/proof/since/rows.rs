//! Compares the rows of recent batches with the digests in their headers.
//!
//! A batch names the transfers that got a status in it. They lead to transfers and statuses by primary key, and to the
//! balances, whose last entries are found by ever longer steps back. Keys are found by their time. Accounts are read
//! whole, since a batch need not name those that it opens.
//!
//! Postgres' statistics are older than what is recent, so its estimates are far too low. `offset 0` makes it look up
//! entries by balance rather than filter the whole table by time, and a full join makes it hash rather than compare
//! each row with each batch.

use sqlx::PgConnection;

use super::super::operations;
use super::super::report::Proof;
use super::super::stored::{StoredAccount, StoredEntry, StoredKey, StoredStatus, StoredTransfer, compare};
use crate::db::audit::since::Part;

pub(super) async fn verify(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    accounts(db, part, proof).await?;
    transfers(db, part, proof).await?;
    entries(db, part, proof).await?;
    statuses(db, part, proof).await?;
    keys(db, part, proof).await?;
    operations::verify(db, Some(part), proof).await
}

async fn accounts(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredAccount,
        r#"
        with batch as (
            select b.chain_id, b.seq, b.accounts_digest from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
            join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        )
        select b.chain_id as "chain_id!", b.seq as "seq!", b.accounts_digest as "digest!", a.account_id as "account_id?", a.owner,
            a.account_number as "account_number?", a.number_key as "number_key?", a.account_type as "account_type?",
            a.created_at as "created_at?", a.issued
        from batch b full join account a on a.chain_id = b.chain_id and a.seq = b.seq
        where coalesce(b.seq, -1) >= 0
        order by b.chain_id, b.seq, a.account_id
        "#,
        &part.chains,
        &part.after,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn transfers(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredTransfer,
        r#"
        select b.chain_id, b.seq, b.transfers_digest as digest, t.transfer_id as "transfer_id?", t.kind as "kind?",
            t.owner as "owner?", t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?",
            t.amount as "amount?", t.beneficiary_id, t.beneficiary_name, t.beneficiary_bank,
            t.beneficiary_account_number, t.payee_key, t.spei_reference, t.rail, t.returns,
            t.concept, t.numeric_reference, t.created_at as "created_at?"
        from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        left join lateral (
            select t.* from unnest(b.transfer_ids) as n (id) join transfer t on t.transfer_id = n.id
            where t.chain_id = b.chain_id and t.seq = b.seq
        ) as t on true
        order by b.chain_id, b.seq, t.transfer_id
        "#,
        &part.chains,
        &part.after,
    )
    .fetch(db);
    compare(rows, proof).await
}

/// Entries of a balance never go back in time, and an entry is never older than its batch, so those of recent batches
/// are among the last ones of the balances that their transfers name.
async fn entries(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredEntry,
        r#"
        with recursive batch as materialized (
            select b.chain_id, b.seq, b.entries_digest, b.transfer_ids
            from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
            join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        ), touched as materialized (
            select distinct a.account_id
            from batch cross join lateral unnest(batch.transfer_ids) as n (id)
            join transfer t on t.transfer_id = n.id
            cross join lateral (values (t.debit_account_id), (t.credit_account_id)) as a (account_id)
            union select account_id from account where kind <> 'customer'
        ), reach (account_id, stripe, low, step) as (
            select b.account_id, b.stripe, b.version - 1, 1::bigint from touched join account_balance b using (account_id)
            union all
            select r.account_id, r.stripe, r.low - 2 * r.step, 2 * r.step
            from reach r cross join lateral (
                select from entry e where e.account_id = r.account_id and e.stripe = r.stripe and e.version = r.low
                    and e.created_at >= $3
                offset 0
            ) as e
        ), tail as (
            -- Up to half of these entries may be older.
            select account_id, stripe, min(low) as low from reach group by account_id, stripe
        ), recent as (
            select e.* from tail cross join lateral (
                select * from entry e where e.account_id = tail.account_id and e.stripe = tail.stripe
                    and e.version > tail.low and e.created_at >= $3
                offset 0
            ) as e
        )
        select b.chain_id as "chain_id!", b.seq as "seq!", b.entries_digest as "digest!",
            e.account_id as "account_id?", e.stripe as "stripe?", e.version as "version?", e.transfer_id as "transfer_id?", e.delta as "delta?",
            e.balance_after as "balance_after?", e.created_at as "created_at?"
        from batch b full join recent e on e.chain_id = b.chain_id and e.seq = b.seq
        where coalesce(b.seq, -1) >= 0
        order by b.chain_id, b.seq, e.account_id, e.stripe, e.version
        "#,
        &part.chains,
        &part.after,
        part.since,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn statuses(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredStatus,
        r#"
        select b.chain_id, b.seq, b.statuses_digest as digest, v.transfer_id as "transfer_id?", v.ordinal as "ordinal?",
            v.status as "status?", v.reason, v.actor, v.note, v.created_at as "created_at?"
        from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        left join lateral (
            select v.* from unnest(b.transfer_ids) as n (id) join transfer_event v on v.transfer_id = n.id
            where v.chain_id = b.chain_id and v.seq = b.seq
        ) as v on true
        order by b.chain_id, b.seq, v.transfer_id, v.ordinal
        "#,
        &part.chains,
        &part.after,
    )
    .fetch(db);
    compare(rows, proof).await
}

async fn keys(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query_as!(
        StoredKey,
        r#"
        with batch as (
            select b.chain_id, b.seq, b.keys_digest from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
            join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        )
        select b.chain_id as "chain_id!", b.seq as "seq!", b.keys_digest as "digest!", i.owner as "owner?", i.key as "key?",
            i.fingerprint as "fingerprint?", i.transfer_id, i.hold_id, i.rejection, i.created_at as "created_at?"
        from batch b full join (select * from idempotency where created_at >= $3) as i
            on i.chain_id = b.chain_id and i.seq = b.seq
        where coalesce(b.seq, -1) >= 0
        order by b.chain_id, b.seq, i.owner collate "C", i.key collate "C"
        "#,
        &part.chains,
        &part.after,
        part.since,
    )
    .fetch(db);
    compare(rows, proof).await
}
