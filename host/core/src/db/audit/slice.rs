//! Rules on what some batches of a chain wrote, which has not changed since, and on what depends on it.

use sqlx::PgConnection;

use super::finding::{COMMIT_SECONDS, Finding, SKEW_SECONDS, Slice, find};
use super::holds::{held, holds};

pub(crate) async fn check(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    let mut findings = batches(db, slice).await?;
    findings.extend(entries(db, slice).await?);
    findings.extend(transfers(db, slice).await?);
    findings.extend(totals(db, slice).await?);
    findings.extend(keys_and_accounts(db, slice).await?);
    findings.extend(holds(db, slice).await?);
    findings.extend(held(db, slice).await?);
    Ok(findings)
}

/// Each status is tied to the entries of its own batch, so that statuses in sequence tell where the money is.
async fn batches(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    find!(
        db,
        slice,
        r#"
        with posted as materialized (
            select * from entry where chain_id = $1 and seq > $2 and seq <= $3
        ), statuses as materialized (
            select * from transfer_event where chain_id = $1 and seq > $2 and seq <= $3
        ), operated as (
            select seq from hold where chain_id = $1 and seq > $2 and seq <= $3
            union all select seq from hold_end where chain_id = $1 and seq > $2 and seq <= $3
            union all select seq from account_event where chain_id = $1 and seq > $2 and seq <= $3
        ), moved as (
            select v.seq, v.ordinal, v.status, t.transfer_id, t.amount, t.debit_account_id, t.credit_account_id
            from statuses v join transfer t using (transfer_id)
        )
        select 'each batch has exactly the rows that it wrote' as "rule!", count(*) as "broken!"
        from (select * from ledger_batch where chain_id = $1 and seq > $2 and seq <= $3) as b
        full join (
            select seq, count(*) as n from transfer where chain_id = $1 and seq > $2 and seq <= $3 group by seq
        ) as t using (seq)
        full join (
            select seq, count(*) as n, sum(delta) filter (where delta > 0) as credits,
                -sum(delta) filter (where delta < 0) as debits
            from posted group by seq
        ) as e using (seq)
        full join (
            select seq, count(*) as n from idempotency where chain_id = $1 and seq > $2 and seq <= $3 group by seq
        ) as k using (seq)
        full join (
            select seq, count(*) as n, array_agg(transfer_id order by transfer_id) as ids from statuses group by seq
        ) as v using (seq)
        full join (select seq, count(*) as n from operated group by seq) as o using (seq)
        where b.batch_id is null
            or (b.transfers_written, b.entries_written, b.keys_written, b.statuses_written, b.operations_written, b.credits,
                b.debits, b.transfer_ids)
                <> (coalesce(t.n, 0), coalesce(e.n, 0), coalesce(k.n, 0), coalesce(v.n, 0), coalesce(o.n, 0),
                coalesce(e.credits, 0), coalesce(e.debits, 0), coalesce(v.ids, '{}'))
            or (b.users_written, b.balances_written, b.balances_explained, b.transfers_written, b.transfers_debited,
                b.moves_written, b.statuses_written, b.entries_written, b.keys_written, b.operations_written)
                <> (b.users_meant, b.balances_meant, b.balances_meant, b.transfers_meant, b.transfers_meant, b.moves_meant,
                b.statuses_meant, b.entries_meant, b.keys_meant, b.operations_meant)
        union all
        select 'each transfer''s money is where its status says it is', count(*) from (
            -- A full join, since the planner may expect few rows, and would compare each entry with each status.
            select from moved m full join posted e on e.transfer_id = m.transfer_id and e.seq = m.seq
            left join account a on a.account_id = e.account_id
            group by coalesce(m.transfer_id, e.transfer_id), coalesce(m.seq, e.seq), m.amount, m.debit_account_id,
                m.credit_account_id, m.ordinal, m.status
            having m.status is null or count(e.version) <> case when m.status = 'pending' and m.ordinal > 0 then 0 else 2 end
                or coalesce(sum(e.delta) filter (where e.account_id = m.debit_account_id), 0)
                    <> case when m.status = 'failed' then m.amount when m.ordinal = 0 then -m.amount else 0 end
                or coalesce(sum(e.delta) filter (where e.account_id = m.credit_account_id and a.kind <> 'in-transit'), 0)
                    <> case m.status when 'completed' then m.amount else 0 end
                or coalesce(sum(e.delta) filter (where a.kind = 'in-transit'), 0)
                    <> case when m.status = 'pending' and m.ordinal > 0 then 0 when m.status = 'pending' then m.amount
                        when m.ordinal > 0 then -m.amount else 0 end
        ) as unbalanced
        "#
    )
}

/// The entry before may be another chain's.
async fn entries(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    find!(
        db,
        slice,
        r#"
        select r.rule as "rule!", count(*) filter (where e.version is not null and r.is_broken) as "broken!"
        from (values (true)) as always (yes)
        left join (select * from entry where chain_id = $1 and seq > $2 and seq <= $3) as e on yes
        left join account a on a.account_id = e.account_id
        left join transfer t on t.transfer_id = e.transfer_id
        left join account c on c.account_id = t.credit_account_id
        left join lateral (
            select version, balance_after, sent_transfers, sent_total, created_at from entry p
            where p.account_id = e.account_id and p.stripe = e.stripe and p.version = e.version - 1 limit 1
        ) as p on true
        cross join lateral (
            select e.delta < 0 and t.kind = 'spei' and t.debit_account_id = e.account_id and c.owner is distinct from t.owner
                as is_sent
        ) as s
        cross join lateral (values
            ('each entry continues from the entry before it',
                (e.version - 1, e.balance_after - e.delta) <> (coalesce(p.version, 0), coalesce(p.balance_after, 0))
                    or e.created_at < p.created_at),
            ('each entry counts what its account sent until then',
                (e.sent_transfers, e.sent_total) is distinct from (
                    coalesce(p.sent_transfers, 0) + is_sent::int, coalesce(p.sent_total, 0) + is_sent::int * t.amount)),
            ('no two entries of a balance have the same number', (
                select count(*) from entry o
                where o.account_id = e.account_id and o.stripe = e.stripe and o.version = e.version
            ) <> 1),
            ('each entry has a balance', not exists (
                select from account_balance b where b.account_id = e.account_id and b.stripe = e.stripe
            )),
            ('no entry leaves a customer with less than nothing', a.kind = 'customer' and e.balance_after < 0),
            ('no money left an account while it was frozen', a.kind = 'customer' and e.delta < 0 and exists (
                select from account_event f
                left join account_event u on u.account_id = f.account_id and u.ordinal = f.ordinal + 1
                where f.account_id = e.account_id and f.event = 'frozen'
                    and case f.chain_id when e.chain_id then f.seq < e.seq
                        else f.created_at < e.created_at - make_interval(secs => $4) end
                    and case u.chain_id when e.chain_id then u.seq > e.seq
                        else coalesce(u.created_at > e.created_at + make_interval(secs => $4), true) end
            ))
        ) as r (rule, is_broken)
        group by r.rule order by r.rule
        "#,
        COMMIT_SECONDS + SKEW_SECONDS
    )
}

/// The transfers that got a status.
async fn transfers(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    find!(
        db,
        slice,
        r#"
        with touched as materialized (
            select transfer_id from transfer_event where chain_id = $1 and seq > $2 and seq <= $3
            union select transfer_id from transfer where chain_id = $1 and seq > $2 and seq <= $3
        )
        select r.rule as "rule!", count(*) filter (where n.transfer_id is not null and r.is_broken) as "broken!"
        from (values (true)) as always (yes)
        left join touched n on yes
        left join transfer t on t.transfer_id = n.transfer_id
        left join transfer o on o.transfer_id = t.returns
        left join rail_payment p on p.transfer_id = n.transfer_id
        left join account d on d.account_id = t.debit_account_id
        left join account c on c.account_id = t.credit_account_id
        left join account_balance b on b.account_id = t.debit_account_id and b.stripe = 0
        left join lateral (
            select array_agg(ordinal order by ordinal) as ordinals, array_agg(status order by ordinal) as statuses,
                array_agg(actor order by ordinal) as actors, (array_agg(actor order by ordinal desc))[1] as decided_by
            from transfer_event v where v.transfer_id = n.transfer_id
        ) as v on true
        cross join lateral (values
            ('each transfer''s statuses form a valid sequence', (
                v.ordinals[1] = 0 and v.ordinals[cardinality(v.ordinals)] = cardinality(v.ordinals) - 1
                and case when t.reviewed
                    then array_to_string(v.statuses, ' ') in ('pending', 'pending pending', 'pending pending completed',
                            'pending pending failed', 'pending failed')
                        or array_to_string(v.statuses, ' ') = 'pending completed' and t.rail in ('instant', 'on-us')
                    else array_to_string(v.statuses, ' ') in ('pending', 'completed', 'pending completed', 'pending failed')
                end
            ) is not true),
            ('a person decided on each transfer that was reviewed, before it went on',
                t.reviewed and cardinality(v.statuses) > 1 and v.actors[2] is null),
            ('each transfer''s status is the last one recorded',
                t.status is distinct from v.statuses[cardinality(v.statuses)]),
            ('exactly the pending transfers are with a rail',
                (coalesce(t.status, '') = 'pending') <> (p.transfer_id is not null) or p.rail <> t.rail),
            ('each payment that its rail decided has its order', t.kind = 'spei' and t.rail in ('simulated', 'stp')
                and t.status <> 'pending' and v.decided_by is null and not exists (
                    select from rail_order x where x.transfer_id = n.transfer_id and x.seal is not null
                )),
            ('each return belongs to a settled transfer of the same amount, account and owner', t.kind = 'return' and
                (o.kind, o.status, o.amount, o.debit_account_id, o.credit_account_id, o.owner) is distinct from
                    ('spei'::text, 'completed'::text, t.amount, t.credit_account_id, t.debit_account_id, t.owner)),
            ('no transfer was returned twice', t.kind = 'return' and (
                select count(*) from transfer x where x.returns = t.returns
            ) <> 1),
            ('each transfer is between its owner''s account and the other side''s', (
                t.owner = case t.kind when 'spei' then d.owner else coalesce(c.owner, '') end
                and case t.kind when 'spei' then c.kind else d.kind end = case
                    when coalesce(t.rail, o.rail) = 'on-us' then 'customer'
                    when t.kind in ('spei', 'return', 'received') then 'spei' else 'funding' end
            ) is not true),
            ('each incoming order has the id that its tracking key, day and institution give',
                t.kind = 'received' and t.transfer_id is distinct from (
                    select encode(set_byte(set_byte(h, 6, get_byte(h, 6) & 15 | 128), 8, get_byte(h, 8) & 63 | 128), 'hex')
                        ::uuid
                    from substring(sha256(convert_to(concat_ws('|', 'caudal incoming 1', t.spei_reference,
                        to_char(t.operating_date, 'YYYY-MM-DD'), t.payer_institution), 'UTF8')) for 16) as h
                )),
            ('each incoming order was credited to the account with the issued number, or is sent back',
                t.kind = 'received' and case v.statuses[1]
                    when 'completed' then c.issued is not null and c.number_key = t.beneficiary_account_number
                    else c.kind = 'in-transit' and v.statuses[2] is distinct from 'completed' end is not true),
            ('each on-us transfer went to the account with the issued number', t.rail = 'on-us'
                and (c.issued is not null and c.number_key = t.payee_key and (t.reviewed or t.status = 'completed')) is not true),
            ('each credit by the bank is on record, or opened its account',
                t.kind = 'opening' and (c.chain_id, c.seq) is distinct from (t.chain_id, t.seq)
                or t.kind = 'funding' and not exists (
                    select from audit_record r where r.subject = 'funding'
                        and r.subject_key = concat_ws('/', t.transfer_id, t.credit_account_id, t.amount)
                )),
            ('each account''s total of a day is what it sent on its last day', t.kind = 'spei'
                and (b.sent_day >= (t.created_at at time zone 'UTC' - interval '6 hours')::date) is not true)
        ) as r (rule, is_broken)
        group by r.rule order by r.rule
        "#
    )
}

/// What transfers add up to. A day is compared with the limit that its user had when it began, as records keep it, unless
/// that changed before it ended; a general one was in force when every host had started again. What a day's last seconds saw
/// may have counted towards the next one, and a payment that failed need not have counted at all.
async fn totals(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    find!(
        db,
        slice,
        r#"
        with sent as materialized (
            select t.owner, t.payee_key, t.amount, t.status,
                date_trunc('day', t.created_at at time zone 'UTC' - interval '6 hours') + interval '6 hours' as midnight
            from transfer t
            where t.kind = 'spei' and t.chain_id = $1 and t.seq > $2 and t.seq <= $3
        ), settled as (
            select t.owner, t.payee_key, t.amount from transfer_event v join transfer t using (transfer_id)
            where v.chain_id = $1 and v.seq > $2 and v.seq <= $3 and v.status = 'completed' and t.kind = 'spei'
        )
        select 'each payee''s total includes what was sent to them' as "rule!", count(*) as "broken!"
        from (
            select owner, payee_key, count(*) as transfers, sum(amount) as amount, max(amount) as largest
            from settled group by owner, payee_key
        ) as s left join payee_total p using (owner, payee_key)
        where (p.transfers >= s.transfers and p.amount >= s.amount and p.largest >= s.largest) is not true
        union all
        select 'no user sent more in a day than the limit allows', count(*)
        from (select distinct owner, midnight at time zone 'UTC' as midnight from sent) as s
        left join lateral (
            select (content->>'per_day_limit')::bigint as day_limit from audit_record r
            where r.subject = 'limits' and r.subject_key = s.owner and r.recorded_at < s.midnight
            order by r.seq desc limit 1
        ) as u on true
        left join lateral (
            select substring(content->>'content' from '--day-limit=([0-9.]+)')::numeric * 100 as day_limit
            from audit_record r
            where r.subject = 'policy' and r.subject_key = 'settings' and r.recorded_at < s.midnight - interval '1 hour'
            order by r.seq desc limit 1
        ) as g on true
        -- Without a limit nothing is added up.
        where coalesce(u.day_limit, g.day_limit) is not null and coalesce(u.day_limit, g.day_limit) < (
            select sum(t.amount) from transfer t
            where t.owner = s.owner and t.kind = 'spei' and t.status <> 'failed' and t.created_at >= s.midnight
                and t.created_at < s.midnight + interval '1 day' - make_interval(secs => $4)
                -- One that an operator recovered was sent on an earlier day.
                and not exists (
                    select from transfer_event v
                    where v.transfer_id = t.transfer_id and v.ordinal = 0 and v.actor is not null
                )
        ) and not exists (
            select from audit_record r
            where r.subject = 'limits' and r.subject_key = s.owner and r.action <> 'reseal'
                and r.recorded_at >= s.midnight and r.recorded_at < s.midnight + interval '1 day'
        ) and (u.day_limit is not null or not exists (
            select from audit_record r
            where r.subject = 'policy' and r.subject_key = 'settings' and r.action <> 'reseal'
                and r.recorded_at >= s.midnight - interval '1 hour' and r.recorded_at < s.midnight + interval '1 day'
        ))
        "#,
        SKEW_SECONDS
    )
}

async fn keys_and_accounts(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    find!(
        db,
        slice,
        r#"
        select r.rule as "rule!", count(*) filter (where i.key is not null and r.is_broken) as "broken!"
        from (values (true)) as always (yes)
        left join (select * from idempotency where chain_id = $1 and seq > $2 and seq <= $3) as i on yes
        cross join lateral (values
            ('each idempotency key refers to a transfer or a hold of its owner',
                i.transfer_id is not null and not exists (
                    select from transfer t where t.transfer_id = i.transfer_id and t.owner = i.owner
                ) or i.hold_id is not null and not exists (
                    select from hold h where h.hold_id = i.hold_id and h.owner = i.owner
                )),
            ('no idempotency key was used twice', (
                select count(*) from idempotency o where o.owner = i.owner and o.key = i.key
            ) <> 1),
            -- Clients' keys have no spaces. A host records an occurrence after it has sent it.
            ('each transfer of a schedule is an occurrence that was sent or is next',
                i.key like 'schedule %' and i.transfer_id is not null and not exists (
                    select from schedule s
                    left join occurrence o on o.schedule_id = s.schedule_id and o.transfer_id = i.transfer_id
                    where s.schedule_id = case
                            when i.key ~ '^schedule [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} '
                            then substring(i.key from 10 for 36)::uuid
                        end
                        and s.owner = i.owner
                        and right(i.key, -46) = to_char(coalesce(o.date, s.next_date), 'YYYY-MM-DD')
                ))
        ) as r (rule, is_broken)
        group by r.rule
        union all
        select r.rule, count(*) filter (where a.account_id is not null and r.is_broken)
        from (values (true)) as always (yes)
        left join (select * from account where chain_id = $1 and seq > $2 and seq <= $3) as a on yes
        cross join lateral (values
            ('each customer account has a balance', not exists (
                select from account_balance b where b.account_id = a.account_id and b.stripe = 0
            )),
            ('each account is in pesos', a.currency <> 'MXN'),
            ('each issued number is its account''s', left(a.number_key, 17) <> lpad(a.issued::text, 17, '0')),
            ('no number was issued twice', (select count(*) from account o where o.issued = a.issued) > 1)
        ) as r (rule, is_broken)
        group by r.rule order by 1
        "#
    )
}
