-- Account numbers that the bank issues, frozen accounts, holds, and transfers between two of its customers.

alter table account
    -- The first 17 digits of a CLABE that the bank issued; null for a number that the user typed. Transfers on us go by
    -- it, so a typed number never attracts anybody's money.
    add column issued bigint constraint account_issued unique
        constraint account_issued_number check (left(number_key, 17) = lpad(issued::text, 17, '0')),
    add constraint account_issued_kind check (issued is null or kind = 'customer');

alter table account_balance
    -- The sum of the open holds.
    add column held bigint not null default 0 constraint account_balance_held check (held >= 0),
    -- Whether no money may leave.
    add column frozen boolean not null default false,
    drop constraint no_overdraft,
    add constraint no_overdraft check (posted - held >= floor);

-- Each time an account was frozen or unfrozen. Append-only; account_balance.frozen is the last of them.
create table account_event (
    account_id uuid not null,
    -- From 0.
    ordinal smallint not null,
    event text not null constraint account_event_event check (event in ('frozen', 'unfrozen')),
    actor text not null,
    reason text not null,
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    primary key (account_id, ordinal)
);

-- Money set aside for a payee: captured as a transfer, voided, or expired.
create table hold (
    hold_id uuid primary key,
    owner text collate "C" not null,
    account_id uuid not null,
    beneficiary_id uuid not null,
    -- At the time of the hold.
    beneficiary_name text not null,
    amount bigint not null constraint hold_amount check (amount > 0),
    status text not null
        constraint hold_status check (status in ('placed', 'captured', 'voided', 'expired')),
    expires_at timestamptz not null,
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null
);
create index hold_by_owner on hold (owner, created_at desc, hold_id desc);
create index hold_due on hold (expires_at) where status = 'placed';

-- How each hold ended. Append-only; hold.status says the same.
create table hold_end (
    hold_id uuid primary key,
    status text not null constraint hold_end_status check (status in ('captured', 'voided', 'expired')),
    -- That captured it.
    transfer_id uuid,
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    constraint hold_end_transfer check ((transfer_id is not null) = (status = 'captured'))
);

alter table idempotency
    add column hold_id uuid,
    drop constraint idempotency_outcome,
    add constraint idempotency_outcome check (num_nonnulls(transfer_id, hold_id, rejection) = 1);

-- 'on-us': both accounts are at this bank.
alter table transfer
    drop constraint transfer_rail,
    add constraint transfer_rail check (rail in ('instant', 'simulated', 'stp', 'on-us'));

alter table ledger_batch
    -- Holds placed and ended, and account events.
    add column operations_meant int not null default 0,
    add column operations_written int not null default 0,
    -- SHA-256 over these rows; null in a batch without any.
    add column operations_digest bytea
        constraint batch_operations_digest check (octet_length(operations_digest) = 32),
    add constraint batch_operations check (
        operations_meant = operations_written and (operations_meant > 0) = (operations_digest is not null)
    );
