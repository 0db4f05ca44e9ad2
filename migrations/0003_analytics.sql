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
