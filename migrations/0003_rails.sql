-- What the courier has to remember about payments: those that are pending, and those that a rail was handed.

-- Payments that a rail has not decided yet, and incoming orders to send back: pending transfers, and nothing else. Written
-- and deleted together with the money.
create table rail_payment (
    transfer_id uuid primary key,
    rail text collate "C" not null constraint rail_payment_rail check (rail in ('simulated', 'stp')),
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
