//! Checks of the whole ledger, in SQL independent of the code that writes it.

mod finding;
mod operations;
pub mod since;
pub(crate) mod work;

use sqlx::PgConnection;

pub use finding::Finding;

/// How much was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    /// Customers' accounts.
    pub accounts: i64,
    pub transfers: i64,
    pub entries: i64,
    pub batches: i64,
}

pub async fn count_rows(db: &mut PgConnection) -> Result<Census, sqlx::Error> {
    sqlx::query_as!(
        Census,
        r#"
        select (select count(*) from account where kind = 'customer') as "accounts!",
            (select count(*) from transfer) as "transfers!",
            (select count(*) from entry) as "entries!",
            (select count(*) from ledger_batch) as "batches!"
        "#
    )
    .fetch_one(db)
    .await
}

/// Checks conservation of money, balances and history. Run it in a repeatable-read transaction, so that all checks see
/// the same snapshot.
pub async fn prove(db: &mut PgConnection) -> Result<Vec<Finding>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select
            (select (coalesce(sum(posted), 0) <> 0)::int::bigint from account_balance) as "not_conserved!",
            (select count(*) from account_balance where posted - held < floor) as "overdrawn!",
            (select count(*) from account_balance b left join account a using (account_id)
                where a.account_id is null or (a.kind = 'customer') <> (b.floor = 0) or (a.kind = 'customer' and b.stripe <> 0)
                    or (a.kind <> 'customer' and (b.floor <> -9223372036854775807
                        or not exists (select from ledger_writer w where w.stripe = b.stripe)))
            ) as "odd_balances!",
            (select count(*) from (
                select 1 from account_balance join account a using (account_id) where a.kind in ('spei', 'in-transit')
                group by account_id having sum(posted) < 0
            ) as negative) as "overdrawn_banks!",
            (select count(*) from (
                select e.created_at < lag(e.created_at) over w as back from entry e
                window w as (partition by account_id, stripe order by version)
            ) as steps where back) as "steps_back!",
            (select count(*) from account a where kind = 'customer' and not exists (
                select from account_balance b where b.account_id = a.account_id and b.stripe = 0
            )) as "accounts_without_balance!",
            (select count(*) from (
                select account_id, stripe from entry except select account_id, stripe from account_balance
            ) as homeless) as "entries_without_balance!",
            (select count(*) from (
                select b.account_id, b.stripe
                from account_balance b left join entry e using (account_id, stripe)
                group by b.account_id, b.stripe, b.posted, b.version
                having b.posted <> coalesce(sum(e.delta), 0)
                    or b.version <> count(e.version)
                    or b.version <> coalesce(max(e.version), 0)
            ) as unexplained) as "unexplained_balances!",
            (select count(*) from (
                select balance_after - delta
                    - coalesce(lag(balance_after) over (partition by account_id, stripe order by version), 0) as gap
                from entry
            ) as steps where gap <> 0) as "broken_steps!",
            (select count(*) from (
                select t.transfer_id
                from transfer t
                left join (
                    select transfer_id, kind, account_id, sum(delta) as net, count(*) as entries
                    from entry join account using (account_id) group by transfer_id, kind, account_id
                ) as e using (transfer_id)
                left join (
                    select transfer_id, count(*) as statuses from transfer_event group by transfer_id
                ) as v using (transfer_id)
                group by t.transfer_id, t.amount, t.debit_account_id, t.credit_account_id, t.status, v.statuses
                having coalesce(sum(e.net) filter (where e.account_id = t.debit_account_id), 0)
                        <> case t.status when 'failed' then 0 else -t.amount end
                    or coalesce(sum(e.net) filter (where e.account_id = t.credit_account_id), 0)
                        <> case t.status when 'completed' then t.amount else 0 end
                    or coalesce(sum(e.net) filter (where e.kind = 'in-transit'), 0)
                        <> case t.status when 'pending' then t.amount else 0 end
                    or coalesce(sum(e.entries), 0) <> 2 * coalesce(v.statuses, 0)
            ) as unbalanced) as "unbalanced_transfers!",
            (select count(*) from (
                select transfer_id from transfer_event group by transfer_id
                having min(ordinal) <> 0 or max(ordinal) <> count(*) - 1
                    or string_agg(status, ' ' order by ordinal)
                        not in ('pending', 'completed', 'pending completed', 'pending failed')
            ) as odd) as "odd_lives!",
            (select count(*) from transfer t full join rail_payment p using (transfer_id)
                where (coalesce(t.status, '') = 'pending') <> (p.transfer_id is not null)
                    or p.rail is not null and p.rail is distinct from t.rail
            ) as "odd_payments!",
            (select count(*) from transfer r left join transfer t on t.transfer_id = r.returns
                where r.kind = 'return' and (t.kind, t.status, t.amount, t.debit_account_id, t.credit_account_id, t.owner)
                    is distinct from ('spei'::text, 'completed'::text, r.amount, r.credit_account_id, r.debit_account_id,
                        r.owner)
            ) as "odd_returns!",
            (select count(*) from entry e where not exists (
                select from transfer t where t.transfer_id = e.transfer_id
            )) as "stray_entries!",
            (select count(*) from transfer t where t.status is distinct from (
                select status from transfer_event v where v.transfer_id = t.transfer_id order by ordinal desc limit 1
            )) as "untold_statuses!",
            (select count(*) from idempotency i where i.transfer_id is not null and not exists (
                select from transfer t where t.transfer_id = i.transfer_id and t.owner = i.owner
            )) as "stray_keys!",
            (select count(*) from (
                select chain_id, seq, coalesce(lag(seq) over (partition by chain_id order by seq) + 1, 0) as due
                from ledger_batch
            ) as steps where seq <> due and not exists (
                select from lost_tail l where (l.chain_id, l.from_seq, l.to_seq + 1) = (steps.chain_id, due, seq)
            )) as "gaps!",
            (select count(*) from (
                select b.account_id from account_balance b left join entry e using (account_id, stripe)
                group by b.account_id, b.stripe, b.changed_at
                having b.changed_at <> coalesce(max(e.created_at), 'epoch')
            ) as undated) as "odd_dates!",
            (select count(*) from account_balance b join account a using (account_id) left join (
                select distinct on (account_id) account_id, counted as day,
                    sum(amount) filter (where status <> 'failed' or day <> counted) as sent
                from (
                    -- A host whose clock was behind counted towards the later day.
                    select e.account_id, t.amount, t.status, d.day,
                        max(d.day) over (partition by e.account_id order by e.version) as counted
                    from entry e
                    join transfer t on t.transfer_id = e.transfer_id and t.kind = 'spei'
                        and t.debit_account_id = e.account_id and e.delta < 0
                    cross join lateral (
                        select (t.created_at at time zone 'UTC' - interval '6 hours')::date as day
                    ) as d
                ) as sendings
                group by account_id, counted order by account_id, counted desc
            ) as s using (account_id)
            where (b.sent_day, b.sent) is distinct from (coalesce(s.day, 'epoch'), coalesce(s.sent, 0))
            ) as "odd_totals!",
            (select count(*) from (select * from account where kind <> 'customer') as a full join (
                values ('00000000-0000-7000-8000-000000000001'::uuid, 'funding', 'FUNDING'),
                    ('00000000-0000-7000-8000-000000000002', 'spei', 'SPEI'),
                    ('00000000-0000-7000-8000-000000000003', 'in-transit', 'IN-TRANSIT')
            ) as b (account_id, kind, number) using (account_id)
                where (a.kind, a.account_number, a.number_key, a.account_type, a.created_at, a.owner, a.chain_id, a.seq,
                        a.issued)
                    is distinct from (b.kind, b.number, b.number, 'bank', 'epoch'::timestamptz, null::text, null::uuid,
                        null::bigint, null::bigint)
            ) as "odd_banks!",
            (select count(*) from account where currency <> 'MXN') as "other_currencies!",
            (select count(*) from transfer t where not exists (
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
            )) as "transfers_of_others!",
            (select count(*) from ledger_batch b
                full join (select chain_id, seq, count(*) as n from transfer group by 1, 2) as t using (chain_id, seq)
                full join (
                    select chain_id, seq, count(*) as n, sum(delta) filter (where delta > 0) as credits
                    from entry group by 1, 2
                ) as e using (chain_id, seq)
                full join (select chain_id, seq, count(*) as n from idempotency group by 1, 2) as k using (chain_id, seq)
                full join (
                    select chain_id, seq, count(*) as n, array_agg(transfer_id order by transfer_id) as ids
                    from transfer_event group by 1, 2
                ) as v using (chain_id, seq)
                where b.batch_id is null or b.transfers_written <> coalesce(t.n, 0)
                    or b.entries_written <> coalesce(e.n, 0) or b.keys_written <> coalesce(k.n, 0)
                    or b.credits <> coalesce(e.credits, 0) or b.debits <> b.credits
                    or b.statuses_written <> coalesce(v.n, 0) or b.transfer_ids <> coalesce(v.ids, '{}')
                    or (b.users_written, b.balances_written, b.balances_explained, b.transfers_written,
                        b.transfers_debited, b.moves_written, b.statuses_written, b.entries_written, b.keys_written)
                        <> (b.users_meant, b.balances_meant, b.balances_meant, b.transfers_meant,
                        b.transfers_meant, b.moves_meant, b.statuses_meant, b.entries_meant, b.keys_meant)
            ) as "odd_batches!"
        "#
    )
    .fetch_one(&mut *db)
    .await?;
    let finding = |rule, broken| Finding { rule, broken };
    let mut findings = vec![
        finding("the balances of all accounts add up to zero", row.not_conserved),
        finding("no balance is below its floor and its holds", row.overdrawn),
        finding("each balance belongs to an account and has the floor of its kind", row.odd_balances),
        finding("no bank account is negative over all its stripes", row.overdrawn_banks),
        finding("no entry is older than the entry before it", row.steps_back),
        finding("each customer account has a balance", row.accounts_without_balance),
        finding("each entry has a balance", row.entries_without_balance),
        finding("each balance is the sum of its entries", row.unexplained_balances),
        finding("each entry continues from the balance of the entry before it", row.broken_steps),
        finding("each transfer's money is where its status says it is", row.unbalanced_transfers),
        finding("each transfer's statuses form a valid sequence", row.odd_lives),
        finding("exactly the pending transfers are with a rail", row.odd_payments),
        finding("each return belongs to a settled transfer of the same amount, account and owner", row.odd_returns),
        finding("each entry belongs to a transfer", row.stray_entries),
        finding("each transfer's status is the last one recorded", row.untold_statuses),
        finding("each idempotency key refers to a transfer of its owner", row.stray_keys),
        finding("no chain of batches has a gap", row.gaps),
        finding("each balance changed when its last entry was made", row.odd_dates),
        finding("each account's total of a day is what it sent on its last day", row.odd_totals),
        finding("the bank has exactly its own accounts", row.odd_banks),
        finding("each account is in pesos", row.other_currencies),
        finding("each transfer is between its owner's account and the other side's", row.transfers_of_others),
        finding("each batch has exactly the transfers, statuses, entries and keys that it wrote", row.odd_batches),
    ];
    findings.extend(operations::prove(&mut *db).await?);
    findings.extend(operations::prove_history(db).await?);
    Ok(findings)
}
