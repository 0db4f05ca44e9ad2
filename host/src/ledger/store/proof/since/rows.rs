//! Compares the rows of recent batches with the digests in their headers.
//!
//! A batch names the transfers that got a status in it; they lead to transfers and statuses by primary key, and to the
//! balances, whose last entries are found by ever longer steps back. Keys are found by their time. Accounts, which no transfer need
//! name, are read whole.

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;

use super::super::operations;
use super::super::report::Proof;
use super::super::rows::Table;
use crate::db::audit::since::Part;
use crate::ledger::chain::rows::{AccountRow, EntryRow, KeyRow, StatusRow, TransferRow};
use crate::ledger::store::codec::{rejection_from_json, rejection_to_json};

pub(super) async fn verify(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    accounts(db, part, proof).await?;
    transfers(db, part, proof).await?;
    entries(db, part, proof).await?;
    statuses(db, part, proof).await?;
    keys(db, part, proof).await?;
    operations::verify(db, Some(part), proof).await
}

async fn accounts(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<AccountRow<'_>>("its account rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.accounts_digest as digest, a.account_id as "account_id?", a.owner,
            a.account_number as "account_number?", a.number_key as "number_key?", a.account_type as "account_type?",
            a.created_at as "created_at?", a.issued
        from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        left join account a on a.chain_id = b.chain_id and a.seq = b.seq
        order by b.chain_id, b.seq, a.account_id
        "#,
        &part.chains,
        &part.after,
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

async fn transfers(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<TransferRow<'_>>("its transfer rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.transfers_digest as digest, t.transfer_id as "transfer_id?", t.kind as "kind?",
            t.owner as "owner?", t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?",
            t.amount as "amount?", t.beneficiary_id, t.beneficiary_name, t.beneficiary_bank,
            t.beneficiary_account_number, t.payee_key, t.spei_reference, t.rail, t.returns,
            t.created_at as "created_at?"
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

/// Entries of a balance never go back in time, and an entry is never older than its batch, so those of recent batches
/// are among the last ones of the balances that their transfers name.
async fn entries(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<EntryRow>("its entry rows were altered");
    let mut rows = sqlx::query!(
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
            from reach r
            join entry e on e.account_id = r.account_id and e.stripe = r.stripe and e.version = r.low and e.created_at >= $3
        ), tail as (
            -- Up to half of these entries may be older.
            select account_id, stripe, min(low) as low from reach group by account_id, stripe
        ), recent as (
            select e.* from tail
            join entry e on e.account_id = tail.account_id and e.stripe = tail.stripe and e.version > tail.low
            where e.created_at >= $3
        )
        select b.chain_id, b.seq, b.entries_digest as digest, e.account_id as "account_id?", e.stripe as "stripe?",
            e.version as "version?", e.transfer_id as "transfer_id?", e.delta as "delta?",
            e.balance_after as "balance_after?", e.created_at as "created_at?"
        from batch b left join recent e using (chain_id, seq)
        order by b.chain_id, b.seq, e.account_id, e.stripe, e.version
        "#,
        &part.chains,
        &part.after,
        part.since,
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

async fn statuses(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<StatusRow<'_>>("its transfer_event rows were altered");
    let mut rows = sqlx::query!(
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

async fn keys(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Table::new::<KeyRow<'_>>("its idempotency rows were altered");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.keys_digest as digest, i.owner as "owner?", i.key as "key?",
            i.fingerprint as "fingerprint?", i.transfer_id, i.hold_id, i.rejection, i.created_at as "created_at?"
        from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        left join idempotency i on i.chain_id = b.chain_id and i.seq = b.seq and i.created_at >= $3
        order by b.chain_id, b.seq, i.owner collate "C", i.key collate "C"
        "#,
        &part.chains,
        &part.after,
        part.since,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let place = (row.chain_id, row.seq);
        let rejection = row.rejection.as_ref().map(rejection_from_json).transpose().unwrap_or_default();
        // The digest does not cover unknown fields in the column.
        if row.rejection != rejection.as_deref().map(rejection_to_json) {
            proof.add(place, "its idempotency rows were altered");
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
