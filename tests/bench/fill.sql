-- Fills an empty database with `:total` transfers: every `:share`-th by the first user, the others by `:users` users in
-- turn, half a minute apart until now, a peso each. Accounts open with what they will send. The rows are those that the ledger
-- would have written, in the order of time, under all indexes and constraints. What no request reads is omitted: batches
-- with their hashes, keys, and the day's totals. A user pays :payees payees in turn, the first of them saved.
create temp table planned as
    select n, u, k, at, noise, ('00000000-0000-7000-9000-' || lpad(to_hex(u), 12, '0'))::uuid as account_id,
        'P' || k % :payees as payee_key,
        (
            lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(noise, 1, 3) || '8'
                || substr(noise, 4, 15)
        )::uuid as id
    from (
        select n, md5(n::text) as noise, date_trunc('second', now()) - (:total - n) * interval '30 seconds' as at,
            -- The sender, and the number of the sender's transfers so far.
            case n % :share when 0 then 0 else 1 + (n - n / :share - 1) % :users end as u,
            case n % :share when 0 then n / :share else 1 + (n - n / :share - 1) / :users end as k
        from generate_series(1::bigint, :total) as n
    ) as p;
create temp table sender as
    select u, account_id, 'user-' || u as owner, max(k) as count, max(at) as last, date_trunc('second', now()) - :total * interval '30 seconds' as opened,
        ('00000000-0000-7000-a000-' || lpad(to_hex(u), 12, '0'))::uuid as opening_id
    from planned group by u, account_id;
analyze planned, sender;

insert into app_user (owner, created_at) select owner, opened from sender;
insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at)
    select account_id, owner, 'Luis', 'BBVA', 'P0', opened from sender;
insert into account (
    account_id, kind, owner, account_number, number_key, account_type, currency, chain_id, seq, created_at
)
    select account_id, 'customer', owner, 'N' || u, 'N' || u, 'checking', 'MXN', opening_id, 0, opened from sender;
insert into account_balance (account_id, stripe, posted, floor, version, changed_at, sent_transfers, sent_total)
    select account_id, 0, 0, 0, count + 1, last, count, 100 * count from sender
    union all
    select '00000000-0000-7000-8000-000000000001', 0, -100 * sum(count), -9223372036854775807, count(*), max(opened), 0, 0
    from sender
    union all
    select '00000000-0000-7000-8000-000000000002', 0, 100 * sum(count), -9223372036854775807, sum(count), max(last), 0, 0
    from sender;

insert into transfer (
    transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status, chain_id, seq, created_at
)
    select opening_id, 'opening', owner, '00000000-0000-7000-8000-000000000001', account_id, 100 * count, 'completed',
        opening_id, 0, opened
    from sender;
insert into transfer (
    transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status, beneficiary_id, beneficiary_name,
    beneficiary_bank, beneficiary_account_number, payee_key, spei_reference, rail, chain_id, seq, created_at
)
    select id, 'spei', owner, account_id, '00000000-0000-7000-8000-000000000002', 100, 'completed', account_id, 'Luis',
        'BBVA', payee_key, payee_key,
        'CAUD' || to_char(at, 'YYYYMMDD') || upper(left(noise, 18)), 'instant', account_id, n, at
    from planned join sender using (u, account_id) order by n;
insert into payee_total (owner, payee_key, transfers, amount, largest)
    select owner, payee_key, count(*), sum(amount), max(amount) from transfer where kind = 'spei' group by owner, payee_key;
insert into transfer_event (transfer_id, ordinal, status, chain_id, seq, created_at)
    select opening_id, 0, 'completed', opening_id, 0, opened from sender;
insert into transfer_event (transfer_id, ordinal, status, chain_id, seq, created_at)
    select id, 0, 'completed', account_id, n, at from planned order by n;

insert into entry (account_id, stripe, version, transfer_id, delta, balance_after, chain_id, seq, created_at)
    select account_id, 0, 1, opening_id, 100 * count, 100 * count, opening_id, 0, opened from sender
    union all
    select '00000000-0000-7000-8000-000000000001', 0, row_number() over by_user, opening_id, -100 * count,
        -100 * sum(count) over by_user, opening_id, 0, opened
    from sender window by_user as (order by u);
insert into entry (
    account_id, stripe, version, transfer_id, delta, balance_after, sent_transfers, sent_total, chain_id, seq, created_at
)
    select e.account_id, 0, e.version, id, e.delta, e.balance_after, e.sent, 100 * e.sent, p.account_id, n, at
    from planned p join sender s using (u) cross join lateral (
        values (p.account_id, k + 1, -100, 100 * (s.count - k), k),
            ('00000000-0000-7000-8000-000000000002'::uuid, n, 100, 100 * n, 0)
    ) as e (account_id, version, delta, balance_after, sent)
    order by n;
