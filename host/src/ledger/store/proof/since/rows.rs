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

use super::super::report::Proof;
use super::super::rows::compared;
use super::super::stored::{Stored, compare};
use crate::db::audit::since::Part;
use crate::ledger::rows::{AccountEventRow, AccountRow, EntryRow, HoldEndRow, HoldRow, KeyRow, StatusRow, TransferRow};

pub(super) async fn verify(db: &mut PgConnection, part: &Part, proof: &mut Proof) -> Result<(), sqlx::Error> {
    compared!(
        db,
        proof,
        0,
        AccountRow,
        r#"
        with base as (
            select * from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        ), batch as (
            select b.chain_id, b.seq, b.digests from base join ledger_batch b using (chain_id) where b.seq > base.after
        )
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t.it as "row?: _"
        from batch b full join (
            select r as it, r.* from account r join base using (chain_id) where r.seq > base.after
        ) as t using (chain_id, seq)
        order by 1, 2, t.account_id
        "#,
        &part.chains,
        &part.after
    );
    compared!(
        db,
        proof,
        1,
        TransferRow,
        r#"
        select b.chain_id, b.seq, b.digests as "digests?", t.it as "row?: _"
        from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        left join lateral (
            select r as it, r.* from unnest(b.transfer_ids) as n (id) join transfer r on r.transfer_id = n.id
            where r.chain_id = b.chain_id and r.seq = b.seq
        ) as t on true
        order by b.chain_id, b.seq, t.transfer_id
        "#,
        &part.chains,
        &part.after
    );
    compared!(
        db,
        proof,
        2,
        StatusRow,
        r#"
        select b.chain_id, b.seq, b.digests as "digests?", t.it as "row?: _"
        from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        left join lateral (
            select r as it, r.* from unnest(b.transfer_ids) as n (id) join transfer_event r on r.transfer_id = n.id
            where r.chain_id = b.chain_id and r.seq = b.seq
        ) as t on true
        order by b.chain_id, b.seq, t.transfer_id, t.ordinal
        "#,
        &part.chains,
        &part.after
    );
    // Entries of a balance never go back in time, and an entry is never older than its batch, so those of recent batches
    // are among the last ones of the balances that their transfers name.
    compared!(
        db,
        proof,
        3,
        EntryRow,
        r#"
        with recursive batch as materialized (
            select b.chain_id, b.seq, b.digests, b.transfer_ids
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
                select r as it, r.* from entry r where r.account_id = tail.account_id and r.stripe = tail.stripe
                    and r.version > tail.low and r.created_at >= $3
                offset 0
            ) as e
        )
        select b.chain_id as "chain_id!", b.seq as "seq!", b.digests as "digests?", t.it as "row?: _"
        from batch b full join recent t on t.chain_id = b.chain_id and t.seq = b.seq
        where coalesce(b.seq, -1) >= 0
        order by b.chain_id, b.seq, t.account_id, t.stripe, t.version
        "#,
        &part.chains,
        &part.after,
        part.since
    );
    compared!(
        db,
        proof,
        4,
        KeyRow,
        r#"
        with base as (
            select * from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        ), batch as (
            select b.chain_id, b.seq, b.digests from base join ledger_batch b using (chain_id) where b.seq > base.after
        )
        select b.chain_id as "chain_id!", b.seq as "seq!", b.digests as "digests?", t.it as "row?: _"
        from batch b full join (select r as it, r.* from idempotency r where created_at >= $3) as t
            on t.chain_id = b.chain_id and t.seq = b.seq
        where coalesce(b.seq, -1) >= 0
        order by b.chain_id, b.seq, t.owner, t.key
        "#,
        &part.chains,
        &part.after,
        part.since
    );
    compared!(
        db,
        proof,
        5,
        HoldRow,
        r#"
        with base as (
            select * from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        ), batch as (
            select b.chain_id, b.seq, b.digests from base join ledger_batch b using (chain_id) where b.seq > base.after
        )
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t.it as "row?: _"
        from batch b full join (
            select r as it, r.* from hold r join base using (chain_id) where r.seq > base.after
        ) as t using (chain_id, seq)
        order by 1, 2, t.hold_id
        "#,
        &part.chains,
        &part.after
    );
    compared!(
        db,
        proof,
        6,
        HoldEndRow,
        r#"
        with base as (
            select * from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        ), batch as (
            select b.chain_id, b.seq, b.digests from base join ledger_batch b using (chain_id) where b.seq > base.after
        )
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t.it as "row?: _"
        from batch b full join (
            select r as it, r.* from hold_end r join base using (chain_id) where r.seq > base.after
        ) as t using (chain_id, seq)
        order by 1, 2, t.hold_id
        "#,
        &part.chains,
        &part.after
    );
    compared!(
        db,
        proof,
        7,
        AccountEventRow,
        r#"
        with base as (
            select * from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        ), batch as (
            select b.chain_id, b.seq, b.digests from base join ledger_batch b using (chain_id) where b.seq > base.after
        )
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t.it as "row?: _"
        from batch b full join (
            select r as it, r.* from account_event r join base using (chain_id) where r.seq > base.after
        ) as t using (chain_id, seq)
        order by 1, 2, t.account_id, t.ordinal
        "#,
        &part.chains,
        &part.after
    );
    Ok(())
}
