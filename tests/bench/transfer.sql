-- A transfer by hand, for pgbench: check of funds, both balances, the transfer with its first event, both entries and
-- the idempotency key, with all indexes and constraints of the real tables, in one transaction. The settlement account
-- is striped by client, as the service stripes it by writer, so that no row is hot; ids are time-ordered, as in the
-- service. Omitted is what the service does beyond this: looking up payee, limits and key, the rules' decision, and the
-- batch row with its proof and hashes.
\set n random(1, :accounts)
\set a random(0, 4095)
\set b random(0, 1152921504606846975)
begin;
update account_balance set posted = posted - 1, version = version + 1, changed_at = greatest(changed_at, now()),
        sent = 1 + case when sent_day < (now() at time zone 'UTC' - interval '6 hours')::date then 0 else sent end,
        sent_day = (now() at time zone 'UTC' - interval '6 hours')::date
    where account_id = ('00000000-0000-7000-9000-' || lpad(to_hex((:n)::bigint), 12, '0'))::uuid and stripe = 0
    returning version as debit_version, posted as debit_posted, changed_at as debit_at \gset
update account_balance set posted = posted + 1, version = version + 1, changed_at = greatest(changed_at, now())
    where account_id = '00000000-0000-7000-8000-000000000002' and stripe = (:client_id)::smallint
    returning version as credit_version, posted as credit_posted, changed_at as credit_at \gset
with t as (
    select (
            lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex((:a)::bigint), 3, '0')
                || '8' || lpad(to_hex((:b)::bigint), 15, '0')
        )::uuid as id,
        'user-' || (:n)::text as owner,
        ('00000000-0000-7000-9000-' || lpad(to_hex((:n)::bigint), 12, '0'))::uuid as debit,
        '00000000-0000-7000-8000-000000000002'::uuid as credit
), made as (
    insert into transfer (
        transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status, beneficiary_id,
        beneficiary_name, beneficiary_bank, beneficiary_account_number, payee_key, spei_reference, rail, chain_id, seq,
        created_at
    )
    select id, 'spei', owner, debit, credit, 1, 'completed', debit, 'Luis', 'BBVA', '012180004643051249',
        '012180004643051249', 'CAUD' || to_char(now(), 'YYYYMMDD') || upper(right(replace(id::text, '-', ''), 18)),
        'instant', id, 0, now()
    from t
), events as (
    insert into transfer_event (transfer_id, ordinal, status, chain_id, seq, created_at)
    select id, 0, 'completed', id, 0, now() from t
), entered as (
    insert into entry (account_id, stripe, version, transfer_id, delta, balance_after, chain_id, seq, created_at)
    select debit, 0::smallint, (:debit_version)::bigint, id, -1, (:debit_posted)::bigint, id, 0,
        (:debit_at)::timestamptz
    from t
    union all
    select credit, (:client_id)::smallint, (:credit_version)::bigint, id, 1, (:credit_posted)::bigint, id, 0,
        (:credit_at)::timestamptz
    from t
)
insert into idempotency (owner, key, fingerprint, transfer_id, chain_id, seq, created_at)
    select owner, gen_random_uuid()::text, sha256(id::text::bytea), id, id, 0, now() from t;
commit;
