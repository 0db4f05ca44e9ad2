-- What customers save and say: payees, scheduled transfers, preferences, consent and analytics.

-- Saved payees. The same account may be saved twice; risk history goes by account number.
create table beneficiary (
    beneficiary_id uuid primary key,
    owner text collate "C" not null,
    name text not null,
    alias text,
    account_number text not null,
    bank_name text not null,
    is_favorite boolean not null default false,
    created_at timestamptz not null,
    -- Keyed hash of the row, which hosts compare before they act on it.
    seal bytea
);
-- The favourites come first.
create index beneficiary_by_favorite on beneficiary (owner, (not is_favorite), created_at, beneficiary_id);

-- Transfers that users plan, once or again and again. Audit records cover every state of a schedule with its occurrences.
create table schedule (
    schedule_id uuid primary key,
    owner text collate "C" not null,
    -- The Idempotency-Key of the request that made it.
    creation_key text collate "C" constraint schedule_key_length check (char_length(creation_key) between 1 and 255),
    -- What each occurrence sends: the body of the request for such a transfer. Its payee may be deleted.
    request jsonb not null constraint schedule_request check (((request -> 'amount')::numeric > 0) is true),
    -- When the schedule was made.
    beneficiary_name text not null,
    recurrence text not null constraint schedule_recurrence check (recurrence in ('once', 'weekly', 'monthly')),
    -- Dates are Mexico City's.
    first_date date not null,
    last_date date,
    times int constraint schedule_times check (times > 0),
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

-- Preferences, never diagnoses: what the client should look like, not why.
create table profile (
    owner text collate "C" primary key,
    theme text not null constraint profile_theme
        check (theme in ('standard-accessible', 'large-text-high-contrast', 'voice-assisted')),
    screen_reader_mode boolean not null,
    font_scale double precision not null constraint profile_font_scale check (font_scale between 0.8 and 2.0),
    nudging_level text not null constraint profile_nudging_level check (nudging_level in ('low', 'medium', 'high')),
    voice_feedback boolean not null,
    updated_at timestamptz not null
);

-- Analytics under consent. Text in both event tables is already redacted.
-- The present answer; no row means no.
create table consent (
    owner text collate "C" primary key,
    granted boolean not null,
    notice_version text,
    updated_at timestamptz not null
);

-- Every answer ever given, append-only.
create table consent_history (
    consent_history_id uuid primary key,
    owner text collate "C" not null,
    granted boolean not null,
    notice_version text,
    created_at timestamptz not null
);
create index consent_history_by_owner on consent_history (owner, created_at);

-- Accepted, not yet stored. Survives a restart; revoking consent empties it for that user.
create table event_queue (
    event_id uuid primary key,
    owner text collate "C" not null,
    screen text not null,
    event_type text not null,
    details text,
    received_at timestamptz not null
);
create index event_queue_in_order on event_queue (received_at, event_id);
create index event_queue_by_owner on event_queue (owner);

-- Stored.
create table event (
    event_id uuid primary key,
    owner text collate "C" not null,
    screen text not null,
    event_type text not null,
    details text,
    received_at timestamptz not null,
    stored_at timestamptz not null
);
create index event_by_owner on event (owner, received_at);
create index event_by_age on event (received_at);
