//! Writes a batch with one statement whose CHECKs prove it.

use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::super::batch::{Batch, Context};
use super::super::writer::Writer;
use super::super::{CUSTOMER_STRIPE, OpenAccount};
use super::columns::{Balances, Entries, Keys, Transfers, Users};
use crate::domain::account_number::normalise;

/// Writes the batch: all of it, or nothing.
pub(super) async fn write(
    db: &mut PgConnection,
    batch: &Batch,
    batch_id: Uuid,
    writer: &Writer,
    context: &Context,
) -> Result<(), sqlx::Error> {
    if batch.accounts.is_empty() {
        return write_money(db, batch, batch_id, writer, context).await;
    }
    // New balance rows have to be there before the statement that moves money into them.
    let mut transaction = db.begin().await?;
    open_accounts(&mut transaction, &batch.accounts, context).await?;
    write_money(&mut transaction, batch, batch_id, writer, context).await?;
    transaction.commit().await
}

async fn open_accounts(db: &mut PgConnection, accounts: &[OpenAccount], context: &Context) -> Result<(), sqlx::Error> {
    let column = |field: fn(&OpenAccount) -> &String| accounts.iter().map(|open| field(open).clone()).collect();
    let ids: Vec<_> = accounts.iter().map(|open| open.account_id).collect();
    let owners: Vec<String> = column(|open| &open.owner);
    let numbers: Vec<String> = column(|open| &open.account_number);
    let keys: Vec<String> = numbers.iter().map(|number| normalise(number)).collect();
    let types: Vec<String> = column(|open| &open.account_type);
    sqlx::query!(
        r#"
        with users as (
            insert into app_user (owner, created_at)
            select distinct owner, $5::timestamptz from unnest($2::text[]) as n (owner) order by owner
            on conflict do nothing
        ), accounts as (
            insert into account (
                account_id, kind, owner, account_number, account_type, number_key, currency, created_at
            )
            select account_id, 'customer', owner, account_number, account_type, number_key, 'MXN', $5
            from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $7::text[])
                as n (account_id, owner, account_number, account_type, number_key)
        )
        insert into account_balance (account_id, stripe, posted, floor, version)
        select account_id, $6, 0, 0, 0 from unnest($1::uuid[]) as n (account_id)
        "#,
        &ids,
        &owners,
        &numbers,
        &types,
        context.now,
        CUSTOMER_STRIPE,
        &keys,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Locks the balances in order, changes them if their versions are still the ones that were loaded,
/// adds the rest, and lets `ledger_batch` compare what was meant with what was done.
async fn write_money(
    db: &mut PgConnection,
    batch: &Batch,
    batch_id: Uuid,
    writer: &Writer,
    context: &Context,
) -> Result<(), sqlx::Error> {
    let users = Users::of(batch);
    let balances = Balances::of(batch);
    let transfers = Transfers::of(&batch.transfers);
    let entries = Entries::of(batch);
    let keys = Keys::of(batch);
    sqlx::query!(
        r#"
        with locked as (
            select b.account_id, b.stripe, b.posted as was
            from account_balance b
            join unnest($4::uuid[], $5::smallint[]) as k (account_id, stripe) using (account_id, stripe)
            order by b.account_id, b.stripe
            for no key update of b
        ), changed as (
            update account_balance b set posted = n.posted, version = n.version
            from unnest($4::uuid[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[])
                as n (account_id, stripe, expected, version, posted)
            join locked using (account_id, stripe)
            where b.account_id = n.account_id and b.stripe = n.stripe and b.version = n.expected
            returning b.account_id, b.stripe, b.posted - locked.was as moved
        ), made as (
            insert into transfer (
                transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status, beneficiary_id,
                beneficiary_name, beneficiary_bank, beneficiary_account_number, payee_key, spei_reference,
                chain_id, seq, created_at
            )
            select n.*, $1, $2, $3
            from unnest(
                $9::uuid[], $10::text[], $11::text[], $12::uuid[], $13::uuid[], $14::bigint[], $15::text[],
                $16::uuid[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[]
            ) as n
            returning transfer_id, debit_account_id, amount
        ), told as (
            insert into transfer_event (transfer_id, ordinal, status, created_at)
            select transfer_id, 0, status, $3 from unnest($9::uuid[], $15::text[]) as n (transfer_id, status)
        ), entered as (
            insert into entry (
                account_id, stripe, version, transfer_id, delta, balance_after, chain_id, seq, created_at
            )
            select n.*, $1, $2, $3
            from unnest($22::uuid[], $23::smallint[], $24::bigint[], $25::uuid[], $26::bigint[], $27::bigint[]) as n
            returning account_id, stripe, transfer_id, delta
        ), kept as (
            insert into idempotency (owner, key, fingerprint, transfer_id, rejection, chain_id, seq, created_at)
            select n.*, $1, $2, $3
            from unnest($28::text[], $29::text[], $30::bytea[], $31::uuid[], $32::jsonb[]) as n
            returning 1
        ), counted as (
            update app_user u set version = u.version + 1
            from unnest($33::text[], $34::bigint[]) as n (owner, expected)
            where u.owner = n.owner and u.version = n.expected
            returning 1
        ), explained as (
            select 1 from changed join (
                select account_id, stripe, sum(delta)::bigint as moved from entered group by account_id, stripe
            ) as e using (account_id, stripe, moved)
        ), debited as (
            select 1 from made m
            join entered e on e.transfer_id = m.transfer_id and e.account_id = m.debit_account_id and e.delta = -m.amount
        )
        insert into ledger_batch (
            chain_id, seq, batch_id, created_at, users_meant, users_written, balances_meant, balances_written,
            balances_explained, transfers_meant, transfers_written, transfers_debited, entries_meant,
            entries_written, keys_meant, keys_written, debits, credits
        )
        select $1, $2, $35, $3,
            cardinality($33::text[]), (select count(*) from counted),
            cardinality($4::uuid[]), (select count(*) from changed), (select count(*) from explained),
            cardinality($9::uuid[]), (select count(*) from made), (select count(*) from debited),
            cardinality($22::uuid[]), (select count(*) from entered),
            cardinality($28::text[]), (select count(*) from kept),
            coalesce((select -sum(delta) from entered where delta < 0), 0),
            coalesce((select sum(delta) from entered where delta > 0), 0)
        "#,
        writer.chain_id,
        writer.next_seq,
        context.now,
        &balances.accounts,
        &balances.stripes,
        &balances.expected,
        &balances.versions,
        &balances.posted,
        &transfers.ids,
        &transfers.kinds,
        &transfers.owners,
        &transfers.debits,
        &transfers.credits,
        &transfers.amounts,
        &transfers.statuses,
        &transfers.payees as &[Option<Uuid>],
        &transfers.names as &[Option<String>],
        &transfers.banks as &[Option<String>],
        &transfers.numbers as &[Option<String>],
        &transfers.payee_keys as &[Option<String>],
        &transfers.references as &[Option<String>],
        &entries.accounts,
        &entries.stripes,
        &entries.versions,
        &entries.transfers,
        &entries.deltas,
        &entries.balances,
        &keys.owners,
        &keys.keys,
        &keys.fingerprints,
        &keys.transfers as &[Option<Uuid>],
        &keys.rejections as &[Option<serde_json::Value>],
        &users.owners,
        &users.expected,
        batch_id,
    )
    .execute(db)
    .await?;
    Ok(())
}
