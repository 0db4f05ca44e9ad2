-- What the courier has to remember about payments: those that are pending, and those that a rail was handed.

-- Payments that a rail has not decided yet, and incoming orders to send back: pending transfers, and nothing else. Written
-- and deleted together with the money. Those under review are parked, whatever their rail, under a seal that none sends.
create table rail_payment (
    transfer_id uuid primary key,
    rail text collate "C" not null constraint rail_payment_rail check (rail in ('instant', 'simulated', 'stp', 'on-us')),
    -- Empty for an incoming order, which other workers claim.
    owner text collate "C" not null,
    -- How many payments of its owner were pending when it was entered. Lower turns are served first, and of one owner at
    -- most n + 1 pending payments have a turn of at most n, so that nobody's many delay another's few.
    turn int not null,
    -- How often the rail was asked or handed it.
    attempts int not null default 0,
    -- What went wrong at the last attempt; null if nothing did.
    last_error text,
    -- Since when a person has to decide; null while the courier goes on.
    parked_at timestamptz,
    -- When it is next looked at. A host that takes it moves this ahead, so that no other does.
    due_at timestamptz not null,
    -- Keyed hash over what its order says, made when it was entered: no other order is sent.
    seal bytea not null constraint rail_payment_seal check (octet_length(seal) = 32)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index rail_payment_turn on rail_payment (rail, turn, due_at);
create index rail_payment_owner on rail_payment (owner, due_at);
create view rail_payment_row as select * from rail_payment;

-- Transfers that a person decides on before they go on. Written together with the money; a row goes when the decision, which
-- is a status of the transfer, is recorded as an outcome too.
create table review (
    transfer_id uuid primary key,
    -- Both or neither: the operator who looks at it, and since when.
    claimed_by text,
    claimed_at timestamptz,
    constraint review_claim check (num_nulls(claimed_by, claimed_at) <> 1)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Payments that were handed to a rail. Kept when they settle, because the rail is asked again when one comes back.
create table rail_order (
    transfer_id uuid primary key,
    rail text collate "C" not null constraint rail_order_rail check (rail in ('simulated', 'stp')),
    -- SPEI's business day that it was first sent for. With the tracking key it identifies the payment: sent for a second
    -- day, it would be a second payment.
    operating_date date not null,
    -- When it was last sent; null if a person settled it before it was.
    sent_at timestamptz,
    -- When the courier asks, because of a notice or because the day is over; null if neither is ahead.
    inquire_at timestamptz,
    -- When it last asked so.
    inquired_at timestamptz,
    -- How often it has asked so without learning anything.
    inquiries int not null default 0,
    -- As of the payment that was handed over; null if a person settled it before it was.
    seal bytea constraint rail_order_seal check (octet_length(seal) = 32)
);
create index rail_order_due on rail_order (rail, inquire_at) where inquire_at is not null;

-- Incoming orders that a notice named and the rail is to be asked about. Nothing in a notice authenticates its sender. Rows
-- go when the rail has answered or the notice is too old.
create table incoming_notice (
    rail text collate "C" not null constraint incoming_notice_rail check (rail in ('simulated', 'stp')),
    tracking_key text collate "C" not null
        constraint incoming_notice_tracking_key check (tracking_key ~ '^[A-Za-z0-9]{1,30}$'),
    operating_date date not null,
    institution int not null,
    -- How often the rail was asked.
    attempts int not null default 0,
    -- When it is asked next. A host that takes it moves this ahead, so that no other does.
    due_at timestamptz not null,
    received_at timestamptz not null,
    primary key (rail, tracking_key, operating_date, institution)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index incoming_notice_due on incoming_notice (rail, due_at);

-- Comparisons of the orders of an operating day with the rail's list of them: due, or made.
create table reconciliation (
    reconciliation_id uuid primary key,
    rail text collate "C" not null constraint reconciliation_rail check (rail in ('simulated', 'stp')),
    operating_date date not null,
    -- The operator who asked for it; null if the day was over.
    requested_by text,
    requested_at timestamptz not null,
    -- When a host makes it; one that does moves this ahead. Null once it is made.
    attempt_at timestamptz,
    made_at timestamptz,
    matched bigint not null default 0,
    missing_here bigint not null default 0,
    missing_there bigint not null default 0,
    different bigint not null default 0,
    duplicated bigint not null default 0,
    -- Those that are listed: see host/core/src/db/reconciliations/difference.rs.
    differences jsonb not null default '[]',
    constraint reconciliation_made check (num_nulls(attempt_at, made_at) = 1)
);
create index reconciliation_due on reconciliation (rail, attempt_at) where attempt_at is not null;
create index reconciliation_by_date on reconciliation (rail, operating_date, made_at);

-- Differences that a person has to decide on. The id is a hash of the difference, so that finding it again opens no second
-- case.
create table payment_case (
    case_id uuid primary key,
    rail text collate "C" not null constraint payment_case_rail check (rail in ('simulated', 'stp')),
    operating_date date not null,
    difference jsonb not null,
    opened_at timestamptz not null,
    closed_at timestamptz,
    closed_by text,
    note text,
    -- The transfer that it was booked as.
    transfer_id uuid,
    constraint payment_case_closed check (num_nulls(closed_at, closed_by, note) in (0, 3)),
    constraint payment_case_booked check (transfer_id is null or closed_at is not null)
);
create index payment_case_open on payment_case (rail, operating_date) where closed_at is null;

-- Orders are entered and handed over in the order of their days, so that a summary of each range of pages suffices.
create index rail_order_by_date on rail_order using brin (operating_date date_minmax_multi_ops) with (autosummarize = on);
