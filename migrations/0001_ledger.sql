-- The money: accounts, balances, transfers, entries and the batches that wrote them.
--
-- All money is in centavos (bigint). Every amount leaves one balance and enters another, so the sum
-- of all balances is 0 for ever. No foreign key points at a row that transfers update, and there is
-- no trigger, sequence or stored procedure: the writing statement proves itself through the CHECKs
-- of `ledger_batch`.

-- One row per token holder who ever opened an account. Limits are per-user overrides of policy.
create table app_user (
    owner text collate "C" primary key constraint app_user_owner_length check (char_length(owner) between 1 and 255),
    per_transfer_limit bigint constraint app_user_per_transfer_limit check (per_transfer_limit > 0),
    per_day_limit bigint constraint app_user_per_day_limit check (per_day_limit > 0),
    -- Counts the batches with transfers of a user who has a limit for a day: two hosts that decide on
    -- the same day's total at once cannot both win.
    version bigint not null default 0,
    created_at timestamptz not null
);

-- What an account is. Cold: never updated by a transfer.
create table account (
    account_id uuid primary key,
    -- 'customer' accounts have an owner; the bank's own ones have none.
    kind text not null constraint account_kind check (kind in ('customer', 'funding', 'spei')),
    owner text collate "C",
    account_number text not null,
    -- account_number without spaces and hyphens: what makes two numbers the same.
    number_key text collate "C" not null,
    account_type text not null,
    currency text not null constraint account_currency check (currency = 'MXN'),
    created_at timestamptz not null,
    constraint account_owner check ((owner is not null) = (kind = 'customer')),
    constraint account_owner_number unique (owner, number_key)
);
create index account_by_owner on account (owner, created_at, account_id);

-- How much is in it. Hot: one narrow row, no index on a changing column, room for HOT updates.
-- A bank account that every transfer touches has one stripe per ledger writer, a customer's has
-- stripe 0 only. Like every table whose rows change all the time, it is vacuumed by the number of changes and without
-- pauses: old versions that stay slow each update down.
create table account_balance (
    account_id uuid not null,
    stripe smallint not null constraint account_balance_stripe check (stripe >= 0),
    posted bigint not null,
    -- The lowest balance allowed: 0 for customers.
    floor bigint not null,
    -- Number of entries so far; the last entry carries it.
    version bigint not null constraint account_balance_version check (version >= 0),
    primary key (account_id, stripe),
    constraint no_overdraft check (posted >= floor)
) with (
    fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- A movement of money as its sender sees it.
create table transfer (
    transfer_id uuid primary key,
    -- 'spei' are the user's transfers; 'opening' and 'funding' are credits by the bank.
    kind text not null constraint transfer_kind check (kind in ('spei', 'opening', 'funding')),
    -- The user whose transfer it is.
    owner text collate "C" not null,
    debit_account_id uuid not null,
    credit_account_id uuid not null,
    amount bigint not null constraint transfer_amount check (amount > 0),
    status text not null constraint transfer_status check (status in ('pending', 'completed', 'failed')),
    -- The payee as it was when the transfer was made; a deleted beneficiary changes no history.
    beneficiary_id uuid,
    beneficiary_name text,
    beneficiary_bank text,
    beneficiary_account_number text,
    -- beneficiary_account_number without spaces and hyphens: what risk history is keyed by.
    payee_key text,
    -- Clave de rastreo.
    spei_reference text collate "C" constraint transfer_spei_reference unique
        constraint transfer_spei_reference_shape check (spei_reference ~ '^[A-Z0-9]{1,30}$'),
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    constraint transfer_accounts_differ check (debit_account_id <> credit_account_id),
    constraint transfer_payee check (
        (kind = 'spei') = (beneficiary_id is not null and beneficiary_name is not null
            and beneficiary_bank is not null and beneficiary_account_number is not null
            and payee_key is not null and spei_reference is not null)
    )
);
-- A user's list, newest first, and the history that risk and limits are computed from.
create index transfer_by_owner on transfer (owner, created_at desc, transfer_id desc) where kind = 'spei';

-- Every status a transfer reached, append-only; transfer.status is the last of them.
create table transfer_event (
    transfer_id uuid not null,
    ordinal smallint not null,
    status text not null constraint transfer_event_status check (status in ('pending', 'completed', 'failed')),
    created_at timestamptz not null,
    primary key (transfer_id, ordinal)
);

-- Double entry: for each transfer one debit (delta < 0) and one credit (delta > 0).
create table entry (
    account_id uuid not null,
    stripe smallint not null,
    -- Gap-free per account and stripe, so the key also gives the history in order.
    version bigint not null,
    transfer_id uuid not null,
    delta bigint not null constraint entry_delta check (delta <> 0),
    balance_after bigint not null,
    -- The batch that wrote it.
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    primary key (account_id, stripe, version)
);

-- The answer that an Idempotency-Key is bound to, for ever: a transfer or a frozen rejection.
create table idempotency (
    owner text collate "C" not null,
    key text collate "C" not null constraint idempotency_key_length check (char_length(key) between 1 and 255),
    -- SHA-256 over the typed fields of the request.
    fingerprint bytea not null constraint idempotency_fingerprint check (octet_length(fingerprint) = 32),
    transfer_id uuid,
    -- [{code, detail}], the gravest first.
    rejection jsonb,
    -- The batch that wrote it.
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    primary key (owner, key),
    constraint idempotency_outcome check ((transfer_id is null) <> (rejection is null))
);

-- One row per committed batch. Its CHECKs compare what the writer meant with what the statement did,
-- so a lost race, a missing row or money from nowhere abort the whole batch. A row of zeros is a
-- tombstone: it takes the number of a batch whose commit got no reply, so that it can never commit.
create table ledger_batch (
    chain_id uuid not null,
    seq bigint not null,
    -- Of this very attempt to write, so that its writer knows it again.
    batch_id uuid not null,
    users_meant int not null default 0,
    users_written int not null default 0,
    balances_meant int not null default 0,
    balances_written int not null default 0,
    -- Balances that moved by exactly the sum of their entries.
    balances_explained int not null default 0,
    transfers_meant int not null default 0,
    transfers_written int not null default 0,
    -- Transfers whose amount was debited by one entry of this batch.
    transfers_debited int not null default 0,
    entries_meant int not null default 0,
    entries_written int not null default 0,
    keys_meant int not null default 0,
    keys_written int not null default 0,
    debits bigint not null default 0,
    credits bigint not null default 0,
    created_at timestamptz not null,
    -- Fences a writer that lost its lease: two writers cannot both write the same seq.
    primary key (chain_id, seq),
    constraint batch_race check (balances_meant = balances_written and users_meant = users_written),
    constraint batch_complete check (
        transfers_meant = transfers_written and entries_meant = entries_written and keys_meant = keys_written
    ),
    -- Against what was written: a lost race is to be told as one, by batch_race.
    constraint batch_explained check (balances_written = balances_explained),
    constraint batch_debited check (transfers_meant = transfers_debited),
    constraint batch_balanced check (debits = credits)
);

-- Who writes which chain and stripe. A lease is a hint; the key of ledger_batch is the proof.
create table ledger_writer (
    chain_id uuid primary key,
    stripe smallint not null constraint ledger_writer_stripe unique,
    holder uuid not null,
    leased_until timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- The bank's own accounts. Ids are fixed: host/src/ledger/mod.rs names the same ones.
insert into account (account_id, kind, owner, account_number, number_key, account_type, currency, created_at) values
    ('00000000-0000-7000-8000-000000000001', 'funding', null, 'FUNDING', 'FUNDING', 'bank', 'MXN', 'epoch'),
    ('00000000-0000-7000-8000-000000000002', 'spei', null, 'SPEI', 'SPEI', 'bank', 'MXN', 'epoch');
-- Stripes of these two appear with the writer that uses them. Only funding may go below zero: its
-- negative balance is the sum of all money that the bank ever put in.
