-- Payments that settle later or come back, the chain of hashes over all batches, what consumers of events read.

-- Money that left its account and has not settled: one stripe for each ledger writer, like the other two.
alter table account drop constraint account_kind;
alter table account
    add constraint account_kind check (kind in ('customer', 'funding', 'spei', 'in-transit')),
    -- The batch that opened it: none for the bank's own, and for those older than this migration.
    add column chain_id uuid,
    add column seq bigint;
insert into account (account_id, kind, owner, account_number, number_key, account_type, currency, created_at) values
    ('00000000-0000-7000-8000-000000000003', 'in-transit', null, 'IN-TRANSIT', 'IN-TRANSIT', 'bank', 'MXN', 'epoch');

-- A payment is settled by the writer that hears of it, which may be another one than its sender's: a stripe of
-- the bank may go below zero then. All stripes of an account together may not, which `caudal verify` looks at.
update account_balance set floor = -9223372036854775807 where account_id = '00000000-0000-7000-8000-000000000002';
alter table account_balance
    -- When its last entry was made. Entries of one balance never go back in time, so that a moment is found
    -- by halving.
    add column changed_at timestamptz not null default 'epoch',
    -- What left the account through SPEI on the last day on which something did (in Mexico City), less what was
    -- refused: the day's total without adding up the day.
    add column sent_day date not null default 'epoch',
    add column sent bigint not null default 0 constraint account_balance_sent check (sent >= 0);
update account_balance b set changed_at = e.changed_at
    from (select account_id, stripe, max(created_at) as changed_at from entry group by account_id, stripe) as e
    where b.account_id = e.account_id and b.stripe = e.stripe;
update account_balance b set sent_day = t.sent_day, sent = t.sent
    from (
        select distinct on (debit_account_id) debit_account_id, sent_day, sent
        from (
            select debit_account_id, (created_at at time zone 'UTC' - interval '6 hours')::date as sent_day,
                sum(amount)::bigint as sent
            from transfer where kind = 'spei' and status <> 'failed'
            group by 1, 2
        ) as days
        order by debit_account_id, sent_day desc
    ) as t
    where b.account_id = t.debit_account_id and b.stripe = 0;

alter table transfer drop constraint transfer_kind;
alter table transfer
    -- A 'return' is money that came back after its transfer had settled.
    add constraint transfer_kind check (kind in ('spei', 'opening', 'funding', 'return')),
    add column rail text constraint transfer_rail check (rail in ('instant', 'simulated', 'stp')),
    -- The transfer that a return brings back.
    add column returns uuid;
update transfer set rail = 'instant' where kind = 'spei';
alter table transfer
    add constraint transfer_rail_kind check ((kind = 'spei') = (rail is not null)),
    add constraint transfer_returns_kind check ((kind = 'return') = (returns is not null));
create unique index transfer_returns on transfer (returns) where returns is not null;
-- Also for a user's returns, which their events tell of.
drop index transfer_by_owner;
create index transfer_by_owner on transfer (owner, created_at desc, transfer_id desc);

alter table transfer_event
    -- Why it was refused or came back: two digits of SPEI's list of reasons.
    add column reason text constraint transfer_event_reason check (reason ~ '^[0-9]{2}$'),
    -- The batch that wrote it.
    add column chain_id uuid,
    add column seq bigint;
update transfer_event v set chain_id = t.chain_id, seq = t.seq from transfer t where t.transfer_id = v.transfer_id;
alter table transfer_event alter column chain_id set not null, alter column seq set not null;

-- Payments that a rail has not decided yet: pending transfers, and nothing else. Written and deleted together
-- with the money.
create table rail_payment (
    transfer_id uuid primary key,
    rail text collate "C" not null constraint rail_payment_rail check (rail in ('simulated', 'stp')),
    owner text collate "C" not null,
    -- How many payments of its owner were pending when it was entered. Lower turns are served first, and of one owner at
    -- most n + 1 pending payments have a turn of at most n, so that nobody's many delay another's few.
    turn int not null,
    -- How often the rail was asked or handed it.
    attempts int not null default 0,
    -- When it is next looked at. A host that takes it moves this ahead, so that no other does.
    due_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index rail_payment_turn on rail_payment (rail, turn, due_at);
create index rail_payment_owner on rail_payment (owner);

alter table ledger_batch drop constraint batch_race;
alter table ledger_batch drop constraint batch_complete;
alter table ledger_batch
    -- Transfers that moved from pending to their end.
    add column moves_meant int not null default 0,
    add column moves_written int not null default 0,
    add column statuses_meant int not null default 0,
    add column statuses_written int not null default 0,
    -- Transfers that got a status here, in the order of their ids: the events of this batch.
    add column transfer_ids uuid[] not null default '{}',
    -- SHA-256 over the rows of each table that this batch wrote.
    add column accounts_digest bytea,
    add column transfers_digest bytea,
    add column entries_digest bytea,
    add column statuses_digest bytea,
    add column keys_digest bytea,
    -- The hash of the batch before, and the keyed hash over it and everything in this row. None in batches
    -- older than this migration, which are the first ones of their chain.
    add column prev_hash bytea,
    add column hash bytea,
    add constraint batch_race check (
        balances_meant = balances_written and users_meant = users_written and moves_meant = moves_written
    ),
    add constraint batch_complete check (
        transfers_meant = transfers_written and entries_meant = entries_written and keys_meant = keys_written
            and statuses_meant = statuses_written
    ),
    add constraint batch_chained check (
        octet_length(hash) = 32 and octet_length(prev_hash) = 32 and num_nulls(
            accounts_digest, transfers_digest, entries_digest, statuses_digest, keys_digest, prev_hash, hash
        ) = 0 or num_nonnulls(
            accounts_digest, transfers_digest, entries_digest, statuses_digest, keys_digest, prev_hash, hash
        ) = 0
    );
update ledger_batch b set transfer_ids = t.ids, statuses_meant = cardinality(t.ids), statuses_written = cardinality(t.ids)
    from (
        select chain_id, seq, array_agg(transfer_id order by transfer_id) as ids from transfer group by chain_id, seq
    ) as t
    where b.chain_id = t.chain_id and b.seq = t.seq;

-- Which key the hashes are made with: a fingerprint of it, so that no host goes on with another one.
create table ledger_key (
    only_one boolean primary key default true constraint ledger_key_only_one check (only_one),
    fingerprint bytea not null,
    created_at timestamptz not null
);

-- Whose transfer rules decided on. Deciding again after a lost race replaces what was kept.
alter table decision add column transfer_id uuid;
create unique index decision_transfer on decision (transfer_id) where transfer_id is not null;
