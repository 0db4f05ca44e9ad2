-- The money: accounts, balances, transfers, entries, holds and the batches that wrote them.
--
-- All money is in centavos (bigint). Every amount leaves one balance and enters another, so the sum of all balances is 0
-- for ever. No foreign key points at a row that transfers update, and there is no trigger, sequence or stored procedure:
-- the writing statement proves itself through the CHECKs of `ledger_batch`.

-- One row per token holder who ever opened an account. Limits are per-user overrides of policy.
create table app_user (
    owner text collate "C" primary key constraint app_user_owner_length check (char_length(owner) between 1 and 255),
    per_transfer_limit bigint constraint app_user_per_transfer_limit check (per_transfer_limit > 0),
    per_day_limit bigint constraint app_user_per_day_limit check (per_day_limit > 0),
    -- Keyed hash of the limits or their absence, which hosts compare before they act on them.
    limits_seal bytea,
    -- Counts the batches with transfers of a user who has a limit for a day: two hosts that decide on
    -- the same day's total at once cannot both win.
    version bigint not null default 0,
    -- The verified name of the holder of the user's accounts, which payments are sent under; null if the bank has none.
    holder_name text,
    created_at timestamptz not null
);

-- What an account is. Cold: never updated by a transfer.
create table account (
    account_id uuid primary key,
    -- 'customer' accounts have an owner; the bank's own ones have none.
    kind text not null constraint account_kind check (kind in ('customer', 'funding', 'spei', 'in-transit')),
    owner text collate "C",
    account_number text not null,
    -- account_number without spaces and hyphens: what makes two numbers the same.
    number_key text collate "C" not null,
    account_type text not null,
    currency text not null constraint account_currency check (currency = 'MXN'),
    -- The first 17 digits of a CLABE that the bank issued; null for a number that the user typed. Transfers on us go by
    -- it, so a typed number never attracts anybody's money.
    issued bigint constraint account_issued unique
        constraint account_issued_number check (left(number_key, 17) = lpad(issued::text, 17, '0')),
    -- The batch that opened it: none for the bank's own.
    chain_id uuid,
    seq bigint,
    created_at timestamptz not null,
    constraint account_owner check ((owner is not null) = (kind = 'customer')),
    constraint account_issued_kind check (issued is null or kind = 'customer'),
    constraint account_batch check ((owner is null) = (num_nulls(chain_id, seq) = 2)),
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
    -- The lowest balance allowed: 0 for customers. A stripe of the bank's may go below zero, since a payment is settled by
    -- the writer that hears of it, which may be another one than its sender's; all stripes of money in transit together may
    -- not.
    floor bigint not null,
    -- Number of entries so far; the last entry carries it.
    version bigint not null constraint account_balance_version check (version >= 0),
    -- When its last entry was made. Entries of one balance never go back in time, so that a moment is found by halving.
    changed_at timestamptz not null default 'epoch',
    -- What left the account through SPEI on the last day on which something did (in Mexico City), less what was refused:
    -- the day's total without adding up the day.
    sent_day date not null default 'epoch',
    sent bigint not null default 0 constraint account_balance_sent check (sent >= 0),
    -- How many transfers left the account, and their sum, refused ones included: each entry repeats what they were after it,
    -- so that what was sent since any moment is a difference.
    sent_transfers bigint not null default 0,
    sent_total bigint not null default 0,
    -- The sum of the open holds.
    held bigint not null default 0 constraint account_balance_held check (held >= 0),
    -- Whether no money may leave.
    frozen boolean not null default false,
    -- That of the last batch which changed it or rested on it. A batch commits only if it is as it was read.
    moment bigint not null default 0,
    primary key (account_id, stripe),
    constraint no_overdraft check (posted - held >= floor)
) with (
    fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

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

-- A movement of money as its sender sees it.
create table transfer (
    transfer_id uuid primary key,
    -- 'spei' are the user's transfers; 'opening' and 'funding' are credits by the bank; a 'return' is money that came back
    -- after its transfer had settled; 'received' is an order of another bank, which is completed when its payee's account is
    -- credited, and pending until it is sent back if no account can be.
    kind text not null constraint transfer_kind check (kind in ('spei', 'opening', 'funding', 'return', 'received')),
    -- The user whose transfer it is; empty for money that no account was credited with.
    owner text collate "C" not null,
    debit_account_id uuid not null,
    credit_account_id uuid not null,
    amount bigint not null constraint transfer_amount check (amount > 0),
    status text not null constraint transfer_status check (status in ('pending', 'completed', 'failed')),
    -- The payee as it was when the transfer was made; a deleted beneficiary changes no history. Of an incoming order, the
    -- name, if any, and the number that the other bank sent.
    beneficiary_id uuid,
    beneficiary_name text,
    beneficiary_bank text,
    beneficiary_account_number text,
    -- beneficiary_account_number without spaces and hyphens: what risk history is keyed by.
    payee_key text collate "C",
    -- Clave de rastreo. Other banks choose those of incoming orders.
    spei_reference text collate "C" constraint transfer_spei_reference_shape check (
        spei_reference ~ '^[A-Z0-9]{1,30}$' or kind = 'received' and spei_reference ~ '^[A-Za-z0-9]{1,30}$'
    ),
    -- Whether a person decides before it goes on: it stays pending until then, and has a second status if it is released to
    -- a rail.
    reviewed boolean not null default false constraint transfer_reviewed check (not reviewed or kind = 'spei'),
    -- 'on-us': both accounts are at this bank. Of an incoming order, the rail that it came by.
    rail text constraint transfer_rail check (rail in ('instant', 'simulated', 'stp', 'on-us')),
    -- The transfer that a return brings back.
    returns uuid,
    -- What the sender tells the payee.
    concept text constraint transfer_concept check (char_length(concept) between 1 and 40),
    numeric_reference int constraint transfer_numeric_reference check (numeric_reference between 1 and 9999999),
    -- Of an incoming order: who sends the money, as the other bank says, from which institution (SPEI's code), and SPEI's
    -- business day. Tracking key, day and institution identify it, and transfer_id is their hash, so that no order is
    -- entered twice.
    payer_name text,
    payer_account_number text,
    payer_institution int,
    operating_date date,
    -- Thumbprint of the key that the sender's token was bound to.
    device text collate "C" constraint transfer_device check (device is null or kind = 'spei' and char_length(device) = 43),
    -- The batch that wrote it.
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    constraint transfer_accounts_differ check (debit_account_id <> credit_account_id),
    constraint transfer_rail_kind check ((kind in ('spei', 'received')) = (rail is not null)),
    constraint transfer_returns_kind check ((kind = 'return') = (returns is not null)),
    constraint transfer_remittance check (
        kind in ('spei', 'received') or num_nonnulls(concept, numeric_reference) = 0
    ),
    constraint transfer_received check (
        kind = 'received' and rail in ('simulated', 'stp')
            and num_nulls(payer_institution, operating_date, spei_reference, beneficiary_account_number) = 0
        or kind <> 'received'
            and num_nonnulls(payer_name, payer_account_number, payer_institution, operating_date) = 0
    ),
    constraint transfer_owner check ((owner = '') = (kind = 'received' and status <> 'completed')),
    constraint transfer_payee check (
        (kind = 'spei') = (beneficiary_id is not null and beneficiary_name is not null
            and beneficiary_bank is not null and beneficiary_account_number is not null
            and payee_key is not null and spei_reference is not null)
    )
);
-- A user's list, newest first, the history that risk and limits are computed from, and the returns that events tell of.
create index transfer_by_owner on transfer (owner, created_at desc, transfer_id desc);
-- What somebody sent to a payee lately, and whether they sent anything from a device before.
create index transfer_to_payee on transfer (owner, payee_key, created_at) include (amount) where kind = 'spei';
create index transfer_by_device on transfer (owner, device) where device is not null;
create unique index transfer_returns on transfer (returns) where returns is not null;
-- Another bank's tracking key may equal one of this bank's.
create unique index transfer_spei_reference on transfer (spei_reference) where kind = 'spei';
-- Incoming orders are entered in the order of their days, so that a summary of each range of pages suffices.
create index transfer_by_date on transfer using brin (operating_date date_minmax_multi_ops) with (autosummarize = on);
create index transfer_received_reference on transfer (spei_reference) where kind = 'received';

-- Every status a transfer reached, append-only; transfer.status is the last of them.
create table transfer_event (
    transfer_id uuid not null,
    ordinal smallint not null,
    status text not null constraint transfer_event_status check (status in ('pending', 'completed', 'failed')),
    -- Why it was refused, came back or is sent back: two digits of SPEI's list of reasons.
    reason text constraint transfer_event_reason check (reason ~ '^[0-9]{2}$'),
    -- Both or neither: who ended a payment without a report from its rail, and why.
    actor text,
    note text,
    -- The batch that wrote it.
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    constraint transfer_event_actor check (num_nulls(actor, note) <> 1),
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
    -- Those of the balance after it.
    sent_transfers bigint not null default 0,
    sent_total bigint not null default 0,
    -- The batch that wrote it.
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    primary key (account_id, stripe, version)
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

-- The answer that an Idempotency-Key is bound to, for ever: a transfer, a hold or a frozen rejection.
create table idempotency (
    owner text collate "C" not null,
    key text collate "C" not null constraint idempotency_key_length check (char_length(key) between 1 and 255),
    -- SHA-256 over the typed fields of the request.
    fingerprint bytea not null constraint idempotency_fingerprint check (octet_length(fingerprint) = 32),
    transfer_id uuid,
    hold_id uuid,
    -- [{code, detail}], the gravest first.
    rejection jsonb,
    -- What a refused transfer or hold would have been: its decisions have this id.
    refused_id uuid,
    -- The batch that wrote it.
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    primary key (owner, key),
    constraint idempotency_outcome check (num_nonnulls(transfer_id, hold_id, rejection) = 1),
    constraint idempotency_refused_id check ((refused_id is not null) = (rejection is not null))
);
-- How often somebody was refused lately.
create index idempotency_refused on idempotency (owner, created_at) where rejection is not null;

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
    -- Transfers that moved from pending to their end.
    moves_meant int not null default 0,
    moves_written int not null default 0,
    statuses_meant int not null default 0,
    statuses_written int not null default 0,
    entries_meant int not null default 0,
    entries_written int not null default 0,
    keys_meant int not null default 0,
    keys_written int not null default 0,
    -- Holds placed and ended, and account events.
    operations_meant int not null default 0,
    operations_written int not null default 0,
    debits bigint not null default 0,
    credits bigint not null default 0,
    -- Above that of every batch which this one rests on: in this order, all chains' batches can be decided again.
    moment bigint not null default 0,
    -- What it decided, and under which terms: see host/core/src/ledger/commands.rs. Empty in a tombstone.
    commands bytea not null default '',
    -- The digest of the transfer rules that decided, and the epoch of their deployment: 0 if they came with the program.
    rules bytea not null default '',
    rules_epoch bigint not null default 0,
    -- Transfers that got a status here, in the order of their ids: the events of this batch.
    transfer_ids uuid[] not null default '{}',
    -- The root of a Merkle tree over the decisions of models that it rested on: of none.
    decisions bytea not null default sha256('') constraint batch_decisions check (octet_length(decisions) = 32),
    -- The roots of Merkle trees over the rows that this batch wrote to each of eight tables, in the order of
    -- host/core/src/ledger/rows.rs.
    digests bytea not null constraint batch_digests check (octet_length(digests) = 256),
    -- The hash of the batch before, and the keyed hash over it and everything in this row.
    prev_hash bytea not null constraint batch_prev_hash check (octet_length(prev_hash) = 32),
    hash bytea not null constraint batch_hash check (octet_length(hash) = 32),
    created_at timestamptz not null,
    -- Fences a writer that lost its lease: two writers cannot both write the same seq.
    primary key (chain_id, seq),
    constraint batch_race check (
        balances_meant = balances_written and users_meant = users_written and moves_meant = moves_written
    ),
    constraint batch_complete check (
        transfers_meant = transfers_written and entries_meant = entries_written and keys_meant = keys_written
            and statuses_meant = statuses_written
    ),
    constraint batch_operations check (operations_meant = operations_written),
    -- Against what was written: a lost race is to be told as one, by batch_race.
    constraint batch_explained check (balances_written = balances_explained),
    constraint batch_debited check (transfers_meant = transfers_debited),
    constraint batch_balanced check (debits = credits)
);

-- Verification reads the rows of some batches. Rows are stored in the order of their batches, so that a summary of each
-- range of pages suffices, which takes a few kilobytes.
create index account_by_batch on account
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);
create index transfer_by_batch on transfer
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);
create index transfer_event_by_batch on transfer_event
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);
create index entry_by_batch on entry
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);
create index hold_by_batch on hold
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);
create index hold_end_by_batch on hold_end
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);
create index account_event_by_batch on account_event
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);
create index idempotency_by_batch on idempotency
    using brin (chain_id uuid_minmax_multi_ops, seq int8_minmax_multi_ops) with (autosummarize = on);

-- Who writes which chain and stripe. A lease is a hint; the key of ledger_batch is the proof.
create table ledger_writer (
    chain_id uuid primary key,
    stripe smallint not null constraint ledger_writer_stripe unique,
    holder uuid not null,
    leased_until timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- What each user's completed transfers to a payee add up to, so that scoring a transfer reads a row for each payee, not
-- every transfer. Written by the statement that completes a transfer. No status follows `completed`, so nothing is ever
-- taken off.
create table payee_total (
    owner text collate "C" not null,
    -- As in `transfer`: deleting and re-saving a beneficiary makes no difference.
    payee_key text collate "C" not null,
    transfers bigint not null constraint payee_total_transfers check (transfers > 0),
    -- The sum of many bigints.
    amount numeric not null,
    largest bigint not null,
    primary key (owner, payee_key),
    constraint payee_total_amount check (amount >= largest and largest > 0)
) with (
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- The bank's own accounts. Ids are fixed: host/core/src/domain/bank_account.rs names the same ones. Money that left its account
-- and has not settled is in transit, as is money that came in and is sent back. SPEI is negative after more came in than left. Stripes of these appear with the writer that uses them.
insert into account (account_id, kind, owner, account_number, number_key, account_type, currency, created_at) values
    ('00000000-0000-7000-8000-000000000001', 'funding', null, 'FUNDING', 'FUNDING', 'bank', 'MXN', 'epoch'),
    ('00000000-0000-7000-8000-000000000002', 'spei', null, 'SPEI', 'SPEI', 'bank', 'MXN', 'epoch'),
    ('00000000-0000-7000-8000-000000000003', 'in-transit', null, 'IN-TRANSIT', 'IN-TRANSIT', 'bank', 'MXN', 'epoch');

-- Hosts write rows as values of these types. Each has the columns of this release: one that a later release adds gets its
-- default, so that hosts of this release still write beside it.
create view account_row as select * from account;
create view account_balance_row as select * from account_balance;
create view transfer_row as select * from transfer;
create view transfer_event_row as select * from transfer_event;
create view entry_row as select * from entry;
create view idempotency_row as select * from idempotency;
create view hold_row as select * from hold;
create view hold_end_row as select * from hold_end;
create view account_event_row as select * from account_event;
