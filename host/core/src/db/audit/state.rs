//! Rules on what only the present can tell.

use sqlx::PgConnection;
use uuid::Uuid;

use super::finding::{Finding, SKEW_SECONDS};

/// Balances that one statement reads: a second's work. Larger than the number of stripes that an account can have.
const BALANCES_MAX: i64 = 50_000;

/// The balances from an account on, whether or not they changed. Returns the account that the next ones begin with.
///
/// Each entry continues from the one before it, so a balance that is that of its last entry is the sum of all. A host whose
/// clock was behind may have counted towards the later day what it sent in the last seconds of the one before.
pub(crate) async fn check_balances(
    db: &mut PgConnection,
    from: Uuid,
) -> Result<(Vec<Finding>, Option<Uuid>), sqlx::Error> {
    let next = sqlx::query_scalar!(
        "select account_id from account_balance where account_id >= $1 order by account_id offset $2 limit 1",
        from,
        BALANCES_MAX,
    );
    let next = next.fetch_optional(&mut *db).await?;
    let findings = sqlx::query_as!(
        Finding,
        r#"
        select r.rule as "rule!", count(*) filter (where b.account_id is not null and r.is_broken) as "broken!"
        from (values (true)) as always (yes)
        left join account_balance b on b.account_id >= $1 and ($2::uuid is null or b.account_id < $2)
        left join account a on a.account_id = b.account_id
        left join lateral (
            select balance_after, version, sent_transfers, sent_total, created_at from entry e
            where e.account_id = b.account_id and e.stripe = b.stripe order by version desc limit 1
        ) as e on true
        left join lateral (
            select event from account_event v where v.account_id = b.account_id order by ordinal desc limit 1
        ) as v on true
        cross join lateral (select (b.sent_day + interval '6 hours') at time zone 'UTC' as midnight) as day
        cross join lateral (
            select count(*) filter (where created_at >= midnight) as transfers,
                coalesce(sum(amount) filter (where created_at >= midnight and status <> 'failed'), 0) as sent,
                coalesce(sum(amount) filter (where created_at < midnight), 0) as late
            from transfer t
            where t.owner = a.owner and t.debit_account_id = b.account_id and t.kind = 'spei'
                and t.created_at >= midnight - make_interval(secs => $3) and t.created_at < midnight + interval '1 day'
        ) as t
        cross join lateral (values
            ('no balance is below its floor and its holds', b.posted - b.held < b.floor),
            ('each balance belongs to an account and has the floor of its kind', case a.kind
                when 'customer' then (b.floor, b.stripe) <> (0, 0)
                else a.kind is null or b.floor <> -9223372036854775807
                    or not exists (select from ledger_writer w where w.stripe = b.stripe) end),
            ('each balance is that of its last entry', (b.posted, b.version, b.changed_at, b.sent_transfers, b.sent_total)
                <> (coalesce(e.balance_after, 0), coalesce(e.version, 0), coalesce(e.created_at, 'epoch'),
                coalesce(e.sent_transfers, 0), coalesce(e.sent_total, 0))),
            ('each account is frozen exactly if it was frozen last',
                b.frozen <> (b.stripe = 0 and coalesce(v.event = 'frozen', false))),
            ('each account''s total of a day is what it sent on its last day', (b.sent_day, b.sent) <> ('epoch', 0)
                and not (t.transfers > 0 and b.sent between t.sent and t.sent + t.late))
        ) as r (rule, is_broken)
        group by r.rule order by r.rule
        "#,
        from,
        next,
        SKEW_SECONDS,
    );
    Ok((findings.fetch_all(db).await?, next))
}

/// Account events, open holds and pending payments are few, compared with transfers.
pub(crate) async fn check_present(db: &mut PgConnection) -> Result<Vec<Finding>, sqlx::Error> {
    sqlx::query_as!(
        Finding,
        r#"
        select 'the balances of all accounts add up to zero' as "rule!",
            (select (coalesce(sum(posted), 0) <> 0)::int::bigint from account_balance) as "broken!"
        union all
        select 'no less than nothing is in transit', (select count(*) from (
            select from account_balance join account using (account_id) where kind = 'in-transit'
            group by account_id having sum(posted) < 0
        ) as negative)
        union all
        select 'each balance sets aside what its open holds add up to', (
            select count(*) from account_balance b full join (
                select account_id, sum(amount) as amount from hold where status = 'placed' group by account_id
            ) as h on h.account_id = b.account_id and b.stripe = 0
            where coalesce(b.held, 0) <> coalesce(h.amount, 0)
        )
        union all
        select 'each customer account was frozen and unfrozen in turn', (select count(*) from (
            select from account_event left join account a using (account_id) group by account_id
            having min(ordinal) <> 0 or max(ordinal) <> count(*) - 1
                or bool_or((event = 'frozen') <> (ordinal % 2 = 0)) or bool_or(a.kind is distinct from 'customer')
        ) as out_of_turn)
        union all
        select 'exactly the pending transfers are with a rail', (
            select count(*) from rail_payment p left join transfer t using (transfer_id)
            where (t.status, t.rail) is distinct from ('pending'::text, p.rail)
        )
        union all
        select 'exactly the transfers under review wait for a person', (
            select count(*) from review r full join (
                select transfer_id from rail_payment p join transfer t using (transfer_id)
                where t.reviewed and not exists (
                    select from transfer_event v where v.transfer_id = t.transfer_id and v.ordinal = 1
                )
            ) as p using (transfer_id)
            -- One that was decided on waits until its outcome is recorded.
            where r.transfer_id is null or p.transfer_id is null and not exists (
                select from transfer t where t.transfer_id = r.transfer_id and t.reviewed
            )
        )
        union all
        select 'the bank has exactly its own accounts', (
            select count(*) from (select * from account where kind <> 'customer') as a full join (
                values ('00000000-0000-7000-8000-000000000001'::uuid, 'funding', 'FUNDING'),
                    ('00000000-0000-7000-8000-000000000002', 'spei', 'SPEI'),
                    ('00000000-0000-7000-8000-000000000003', 'in-transit', 'IN-TRANSIT')
            ) as b (account_id, kind, number) using (account_id)
            where (a.kind, a.account_number, a.number_key, a.account_type, a.created_at, a.currency, a.owner, a.chain_id,
                    a.seq, a.issued)
                is distinct from (b.kind, b.number, b.number, 'bank', 'epoch'::timestamptz, 'MXN', null::text, null::uuid,
                    null::bigint, null::bigint)
        )
        "#
    )
    .fetch_all(db)
    .await
}

/// What only reading everything can tell.
pub(crate) async fn check_everything(db: &mut PgConnection) -> Result<Vec<Finding>, sqlx::Error> {
    sqlx::query_as!(
        Finding,
        r#"
        select 'each payee''s total is what completed transfers add up to' as "rule!", count(*) as "broken!"
        from payee_total p full join (
            select owner, payee_key, count(*) as transfers, sum(amount) as amount, max(amount) as largest
            from transfer where kind = 'spei' and status = 'completed' group by owner, payee_key
        ) as t using (owner, payee_key)
        where (p.transfers, p.amount, p.largest) is distinct from (t.transfers, t.amount, t.largest)
        union all
        select 'each occurrence that was sent has the transfer of its key', count(*)
        from occurrence o join schedule s using (schedule_id)
        left join idempotency i on i.owner = s.owner
            and i.key = concat_ws(' ', 'schedule', o.schedule_id, to_char(o.date, 'YYYY-MM-DD'))
        where o.outcome = 'sent' and o.transfer_id is distinct from i.transfer_id
        "#
    )
    .fetch_all(db)
    .await
}
