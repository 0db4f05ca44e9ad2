-- Transfers that users plan, once or again and again. Audit records cover every state of a schedule with its occurrences.

create table schedule (
    schedule_id uuid primary key,
    owner text collate "C" not null,
    -- The Idempotency-Key of the request that made it.
    creation_key text collate "C" constraint schedule_key_length check (char_length(creation_key) between 1 and 255),
    account_id uuid not null,
    -- The payee may be deleted.
    beneficiary_id uuid not null,
    -- When the schedule was made.
    beneficiary_name text not null,
    amount bigint not null constraint schedule_amount check (amount > 0),
    recurrence text not null constraint schedule_recurrence check (recurrence in ('once', 'weekly', 'monthly')),
    -- Dates are Mexico City's.
    first_date date not null,
    last_date date,
    times int constraint schedule_times check (times > 0),
    -- What each occurrence tells the payee.
    concept text constraint schedule_concept check (char_length(concept) between 1 and 40),
    numeric_reference int constraint schedule_numeric_reference check (numeric_reference between 1 and 9999999),
    -- What the client said about itself when it made the schedule.
    is_new_device boolean not null,
    geolocation_changed boolean not null,
    created_at timestamptz not null,
    status text not null constraint schedule_status check (status in ('active', 'finished', 'cancelled', 'ended')),
    -- Of the next occurrence, which is how many are over.
    ordinal int not null constraint schedule_ordinal check (ordinal >= 0),
    -- Of the next occurrence; null if hosts have nothing more to do.
    next_date date constraint schedule_next check (next_date is not null or status <> 'active'),
    -- How long the next occurrence waits for its owner; null if it does not.
    waiting_until timestamptz,
    -- When a host may try next, and whether one may be sending just now.
    attempt_at timestamptz not null,
    is_claimed boolean not null,
    -- How many schedules of its owner were active when it was made: as the turn of a payment.
    turn int not null,
    constraint schedule_creation_key unique (owner, creation_key),
    constraint schedule_end check (num_nonnulls(last_date, times) < 2)
);
create index schedule_by_owner on schedule (owner, created_at desc, schedule_id desc);
create index schedule_by_turn on schedule (turn, next_date, schedule_id) where next_date is not null;

-- What became of each occurrence. Append-only.
create table occurrence (
    schedule_id uuid not null references schedule,
    ordinal int not null,
    date date not null,
    outcome text not null
        constraint occurrence_outcome check (outcome in ('sent', 'refused', 'skipped', 'lapsed', 'missed')),
    transfer_id uuid,
    -- The code of the problem for which it was refused.
    problem text,
    recorded_at timestamptz not null,
    primary key (schedule_id, ordinal),
    constraint occurrence_sent check ((transfer_id is not null) = (outcome = 'sent')),
    constraint occurrence_refused check ((problem is not null) = (outcome = 'refused'))
);
