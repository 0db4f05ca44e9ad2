//! Checks of what recent batches wrote, and of every balance, in SQL independent of the code that writes it.
//!
//! Each recent status is tied to its own entries, so if every transfer's money was where its status says before this
//! part, it still is.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::finding::Finding;
use super::operations;

/// A part of the ledger: the batches of each chain after a sequence number.
#[derive(Debug, Default)]
pub struct Part {
    pub(crate) chains: Vec<Uuid>,
    /// The last batch of each chain before this part; -1 if there is none.
    pub(crate) after: Vec<i64>,
    /// When the first of these batches was made; `None` if there are none.
    pub(crate) since: Option<OffsetDateTime>,
}

/// Run it in the repeatable-read transaction that verifies the hashes of this part.
pub(crate) async fn prove(db: &mut PgConnection, part: &Part) -> Result<Vec<Finding>, sqlx::Error> {
    let mut findings = balances(db).await?;
    findings.extend(operations::prove(db).await?);
    if part.since.is_none() {
        return Ok(findings);
    }
    findings.extend(transfers(db, part).await?);
    findings.extend(entries(db, part).await?);
    findings.push(days(db, part).await?);
    Ok(findings)
}

fn finding(rule: &'static str, broken: i64) -> Finding {
    Finding { rule, broken }
}

/// Every balance, whether or not it changed: one row and one last entry each.
async fn balances(db: &mut PgConnection) -> Result<Vec<Finding>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select (coalesce(sum(b.posted), 0) <> 0)::int::bigint as "not_conserved!",
            count(*) filter (where b.posted - b.held < b.floor) as "overdrawn!",
            count(*) filter (where a.account_id is null or (a.kind = 'customer') <> (b.floor = 0)
                or (a.kind = 'customer' and b.stripe <> 0)
                or (a.kind <> 'customer' and (b.floor <> -9223372036854775807
                    or not exists (select from ledger_writer w where w.stripe = b.stripe)))) as "odd_balances!",
            count(*) filter (where (b.posted, b.version, b.changed_at) is distinct from
                (coalesce(e.balance_after, 0), coalesce(e.version, 0), coalesce(e.created_at, 'epoch'))) as "unexplained!",
            coalesce((sum(b.posted) filter (where a.kind = 'spei') < 0)::int, 0)
                + coalesce((sum(b.posted) filter (where a.kind = 'in-transit') < 0)::int, 0) as "overdrawn_banks!"
        from account_balance b left join account a using (account_id) left join lateral (
            select balance_after, version, created_at from entry e
            where e.account_id = b.account_id and e.stripe = b.stripe order by version desc limit 1
        ) as e on true
        "#
    );
    let row = row.fetch_one(db).await?;
    Ok(vec![
        finding("the balances of all accounts add up to zero", row.not_conserved),
        finding("no balance is below its floor and its holds", row.overdrawn),
        finding("each balance belongs to an account and has the floor of its kind", row.odd_balances),
        finding("no bank account is negative over all its stripes", row.overdrawn_banks.into()),
        finding("each balance is that of its last entry", row.unexplained),
    ])
}

/// The transfers that got a status in this part.
async fn transfers(db: &mut PgConnection, part: &Part) -> Result<Vec<Finding>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        with batch as materialized (
            select b.* from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
            join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        ), touched as materialized (
            select distinct n.id from batch cross join lateral unnest(batch.transfer_ids) as n (id)
        )
        select
            (select count(*) from touched left join lateral (
                select min(ordinal) as first, max(ordinal) as last, count(*) as n,
                    string_agg(status, ' ' order by ordinal) as life
                from transfer_event v where v.transfer_id = touched.id
            ) as v on true where (v.first = 0 and v.last = v.n - 1
                and v.life in ('pending', 'completed', 'pending completed', 'pending failed')) is not true
            ) as "odd_lives!",
            (select count(*) from touched left join transfer t on t.transfer_id = touched.id
                where t.status is distinct from (
                    select status from transfer_event v where v.transfer_id = touched.id order by ordinal desc limit 1
            )) as "untold_statuses!",
            (select count(*) from (
                select t.owner, t.payee_key, count(*) as transfers, sum(t.amount) as amount, max(t.amount) as largest
                from touched join transfer t on t.transfer_id = touched.id
                where t.kind = 'spei' and t.status = 'completed' group by t.owner, t.payee_key
            ) as s left join payee_total p using (owner, payee_key)
                where (p.transfers >= s.transfers and p.amount >= s.amount and p.largest >= s.largest) is not true
            ) as "odd_totals!",
            (select count(*) from touched left join transfer t on t.transfer_id = touched.id
                left join rail_payment p on p.transfer_id = touched.id
                where (coalesce(t.status, '') = 'pending') <> (p.transfer_id is not null)
                    or p.rail is not null and p.rail is distinct from t.rail
            ) as "odd_payments!",
            (select count(*) from touched join transfer r on r.transfer_id = touched.id
                left join transfer t on t.transfer_id = r.returns
                where r.kind = 'return' and (t.kind, t.status, t.amount, t.debit_account_id, t.credit_account_id, t.owner)
                    is distinct from ('spei'::text, 'completed'::text, r.amount, r.credit_account_id, r.debit_account_id,
                        r.owner)
            ) as "odd_returns!",
            (select count(*) from touched join transfer t on t.transfer_id = touched.id where not exists (
                select from account a
                where a.account_id = case t.kind when 'spei' then t.debit_account_id else t.credit_account_id end
                    and a.owner = t.owner
            ) or not exists (
                select from account a
                where a.account_id = case t.kind when 'spei' then t.credit_account_id else t.debit_account_id end
                    and a.kind = case
                        when coalesce(t.rail, (select o.rail from transfer o where o.transfer_id = t.returns)) = 'on-us'
                            then 'customer'
                        when t.kind in ('spei', 'return') then 'spei' else 'funding' end
                    and (t.rail = 'on-us' and (a.issued is null or a.number_key <> t.payee_key)) is not true
            )) as "transfers_of_others!",
            (select count(*) from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
                join idempotency i on i.chain_id = base.chain_id and i.seq > base.after and i.created_at >= $3
                where i.transfer_id is not null and not exists (
                    select from transfer t where t.transfer_id = i.transfer_id and t.owner = i.owner
                ) or i.hold_id is not null and not exists (
                    select from hold h where h.hold_id = i.hold_id and h.owner = i.owner
            )) as "stray_keys!",
            (select count(*) from batch b where b.debits <> b.credits
                or cardinality(b.transfer_ids) <> b.statuses_written
                or (b.users_written, b.balances_written, b.balances_explained, b.transfers_written,
                    b.transfers_debited, b.moves_written, b.statuses_written, b.entries_written, b.keys_written,
                    b.operations_written)
                    <> (b.users_meant, b.balances_meant, b.balances_meant, b.transfers_meant,
                    b.transfers_meant, b.moves_meant, b.statuses_meant, b.entries_meant, b.keys_meant,
                    b.operations_meant)
            ) as "odd_batches!"
        "#,
        &part.chains,
        &part.after,
        part.since,
    );
    let row = row.fetch_one(db).await?;
    Ok(vec![
        finding("each transfer's statuses form a valid sequence", row.odd_lives),
        finding("each transfer's status is the last one recorded", row.untold_statuses),
        finding("each payee's total includes what was sent to them", row.odd_totals),
        finding("exactly the pending transfers are with a rail", row.odd_payments),
        finding("each return belongs to a settled transfer of the same amount, account and owner", row.odd_returns),
        finding("each transfer is between its owner's account and the other side's", row.transfers_of_others),
        finding("each idempotency key refers to a transfer or a hold of its owner", row.stray_keys),
        finding("each batch has exactly the rows that it meant to write", row.odd_batches),
    ])
}

/// The last entries of the balances that those transfers name, and what they continue from.
async fn entries(db: &mut PgConnection, part: &Part) -> Result<Vec<Finding>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        with recursive batch as materialized (
            select b.chain_id, b.seq, b.transfer_ids from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
            join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
        ), moved as materialized (
            select b.chain_id, b.seq, t.transfer_id, t.amount, t.debit_account_id, t.credit_account_id, v.ordinal, v.status
            from batch b cross join lateral unnest(b.transfer_ids) as n (id)
            join transfer t on t.transfer_id = n.id
            left join transfer_event v on v.transfer_id = n.id and v.chain_id = b.chain_id and v.seq = b.seq
        ), touched as materialized (
            select distinct a.account_id
            from moved cross join lateral (values (debit_account_id), (credit_account_id)) as a (account_id)
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
        ), last as materialized (
            select e.*, e.created_at >= $3 as is_recent from tail cross join lateral (
                select * from entry e where e.account_id = tail.account_id and e.stripe = tail.stripe
                    and e.version >= tail.low
                offset 0
            ) as e
        )
        select
            (select count(*) from (
                select is_recent, version - coalesce(lag(version) over w, 0) as step,
                    balance_after - delta - coalesce(lag(balance_after) over w, 0) as gap,
                    coalesce(created_at < lag(created_at) over w, false) as back
                from last window w as (partition by account_id, stripe order by version)
            ) as steps where is_recent and (step <> 1 or gap <> 0 or back)) as "broken_steps!",
            (select count(*) from (
                select m.transfer_id
                from moved m full join (select * from last where is_recent) as e
                    on e.transfer_id = m.transfer_id and e.chain_id = m.chain_id and e.seq = m.seq
                left join account a on a.account_id = e.account_id
                where coalesce(m.seq, -1) >= 0
                group by m.transfer_id, m.chain_id, m.seq, m.amount, m.debit_account_id, m.credit_account_id, m.ordinal,
                    m.status
                having count(e.version) <> 2
                    or coalesce(sum(e.delta) filter (where e.account_id = m.debit_account_id), 0)
                        <> case m.status when 'failed' then m.amount else case m.ordinal when 0 then -m.amount else 0 end end
                    or coalesce(sum(e.delta) filter (where e.account_id = m.credit_account_id), 0)
                        <> case m.status when 'completed' then m.amount else 0 end
                    or coalesce(sum(e.delta) filter (where a.kind = 'in-transit'), 0)
                        <> case when m.status = 'pending' then m.amount when m.ordinal > 0 then -m.amount else 0 end
            ) as unbalanced) as "unbalanced!"
        "#,
        &part.chains,
        &part.after,
        part.since,
    );
    let row = row.fetch_one(db).await?;
    Ok(vec![
        finding("each entry continues from the entry before it", row.broken_steps),
        finding("each transfer's money went where its status says", row.unbalanced),
    ])
}

/// What the accounts of these transfers sent. Earlier transfers of the same day are not added up.
async fn days(db: &mut PgConnection, part: &Part) -> Result<Finding, sqlx::Error> {
    let broken = sqlx::query_scalar!(
        r#"
        with recursive touched as materialized (
            select distinct a.account_id
            from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
            join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
            cross join lateral unnest(b.transfer_ids) as n (id)
            join transfer t on t.transfer_id = n.id
            cross join lateral (values (t.debit_account_id), (t.credit_account_id)) as c (account_id)
            join account a on a.account_id = c.account_id and a.kind = 'customer'
        ), reach (account_id, low, step) as (
            select b.account_id, b.version - 1, 1::bigint
            from touched join account_balance b on b.account_id = touched.account_id and b.stripe = 0
            union all
            select r.account_id, r.low - 2 * r.step, 2 * r.step
            from reach r cross join lateral (
                select from entry e where e.account_id = r.account_id and e.stripe = 0 and e.version = r.low
                    and e.created_at >= $3
                offset 0
            ) as e
        ), tail as (
            select account_id, min(low) as low from reach group by account_id
        ), total as (
            select distinct on (tail.account_id) tail.account_id, d.day,
                sum(t.amount) filter (where t.status <> 'failed') as sent
            from tail cross join lateral (
                select * from entry e where e.account_id = tail.account_id and e.stripe = 0 and e.version > tail.low
                    and e.created_at >= $3 and e.delta < 0
                offset 0
            ) as e
            join transfer t on t.transfer_id = e.transfer_id and t.kind = 'spei' and t.debit_account_id = e.account_id
            cross join lateral (
                select (t.created_at at time zone 'UTC' - interval '6 hours')::date as day
            ) as d
            group by tail.account_id, d.day order by tail.account_id, d.day desc
        )
        select count(*) as "odd_totals!"
        from total s join account_balance b on b.account_id = s.account_id and b.stripe = 0
        -- A host whose clock was behind counted towards the later day, which is not after the last entry's.
        where b.sent_day < s.day or b.sent_day > (b.changed_at at time zone 'UTC' - interval '6 hours')::date
            or b.sent_day = s.day and b.sent < s.sent
        "#,
        &part.chains,
        &part.after,
        part.since,
    );
    Ok(finding("each account's total of a day includes what it sent", broken.fetch_one(db).await?))
}
