-- What the courier has to remember about payments: why one stopped, the operating date it was sent for, and when a notice
-- makes it ask. Who settled a payment by hand, and the names of holders that the bank vouches for.

alter table rail_payment
    -- What went wrong at the last attempt; null if nothing did.
    add column last_error text,
    -- Since when a person has to decide; null while the courier goes on.
    add column parked_at timestamptz;

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
    inquiries int not null default 0
);
create index rail_order_due on rail_order (rail, inquire_at) where inquire_at is not null;

-- Both or neither: who ended a payment without a report from its rail, and why.
alter table transfer_event
    add column actor text,
    add column note text,
    add constraint transfer_event_actor check (num_nulls(actor, note) <> 1);

-- The verified name of the holder of a user's accounts, which payments are sent under; null if the bank has none.
alter table app_user add column holder_name text;
