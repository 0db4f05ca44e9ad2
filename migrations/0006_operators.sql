-- What operators do besides: actions that a second one has to approve, and where events are delivered.

-- Audit records cover every state of a row.
create table approval (
    approval_id uuid primary key,
    -- JSON, byte for byte what the second person approves.
    action text not null,
    reason text not null,
    proposed_by text not null,
    -- Who vouches for that name; null if the token does not say.
    proposed_issuer text,
    proposed_at timestamptz not null,
    expires_at timestamptz not null,
    -- Null while nobody has decided.
    verdict text constraint approval_verdict check (verdict in ('approved', 'withdrawn')),
    decided_by text,
    decided_issuer text,
    decided_at timestamptz,
    -- When the action was carried out; null if it was not.
    executed_at timestamptz,
    -- Until when nobody else carries it out, by this database's clock; null if nobody is about to.
    claimed_until timestamptz,
    constraint approval_decision check (num_nulls(verdict, decided_by, decided_at) in (0, 3)),
    constraint approval_executed check (executed_at is null or verdict = 'approved'),
    constraint approval_claimed check (
        claimed_until is null or (verdict is not distinct from 'approved' and executed_at is null)
    )
);
create index approval_by_time on approval (proposed_at desc, approval_id desc);

-- The bank's own systems that events are delivered to. Audit records cover every state of a row. What a webhook is signed
-- with is derived from the ledger's key and the id, so nothing here is secret.
create table sink (
    sink_id uuid primary key,
    kind text not null constraint sink_kind check (kind in ('webhook', 'nats')),
    url text not null,
    -- Types of events, or what types begin with; empty for all.
    types text[] not null,
    is_paused boolean not null,
    created_by text not null,
    created_at timestamptz not null
);

-- How far each sink is.
create table sink_progress (
    sink_id uuid primary key references sink on delete cascade,
    -- What is before it was delivered, or is in sink_undelivered.
    cursor text not null,
    -- When its next events are delivered. A host that takes it moves this ahead, so that no other does.
    due_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Events that a sink did not accept, and later ones of the same accounts, which wait for them. Bounded: at the bound, the
-- sink waits as a whole. What the event says is read again from the ledger.
create table sink_undelivered (
    sink_id uuid not null references sink on delete cascade,
    -- In the order in which they are to arrive.
    number bigint not null,
    event_id text collate "C" not null,
    type text collate "C" not null,
    -- What keeps its order: accounts, as a rule.
    keys text[] not null,
    -- The batch, or the audit record.
    stripe smallint not null,
    seq bigint not null,
    happened_at timestamptz not null,
    -- 0 if it only waits for an earlier one.
    attempts bigint not null,
    last_error text,
    due_at timestamptz not null,
    primary key (sink_id, number)
);

-- Which programs may serve from this database: those that know at least this migration. A release whose migrations only
-- add leaves it, so that the release before it still serves, beside it or after going back; one that removes what older
-- programs use raises it.
create table schema_compatibility (
    only_row boolean primary key default true constraint schema_compatibility_only_row check (only_row),
    oldest_migration bigint not null
);
insert into schema_compatibility (oldest_migration) values (6);
