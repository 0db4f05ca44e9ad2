-- What the courier has to remember about payments: why one stopped, the operating date it was sent for, and when a notice
-- makes it ask.

alter table rail_payment
    -- What went wrong at the last attempt; null if nothing did.
    add column last_error text,
    -- Since when a person has to decide; null while the courier goes on.
    add column parked_at timestamptz;

-- Payments that were handed to a rail. Kept when they settle, because the rail is asked again when one comes back.
create table rail_order (
    transfer_id uuid primary key,
    rail text not null constraint rail_order_rail check (rail in ('simulated', 'stp')),
    -- SPEI's business day that it was first sent for. With the tracking key it identifies the payment: sent for a second
    -- day, it would be a second payment.
    operating_date date not null,
    -- When a notice makes the courier ask; null if none does.
    inquire_at timestamptz,
    -- When it last asked because of a notice.
    inquired_at timestamptz,
    -- How often it has asked because of a notice without learning anything.
    inquiries int not null default 0
);
create index rail_order_due on rail_order (rail, inquire_at) where inquire_at is not null;
