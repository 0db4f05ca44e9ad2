-- Actions of operators that a second one has to approve. Audit records cover every state of a row.

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

-- Which programs may serve from this database: those that know at least this migration. A release whose migrations only
-- add leaves it, so that the release before it still serves, beside it or after going back; one that removes what older
-- programs use raises it.
create table schema_compatibility (
    only_row boolean primary key default true constraint schema_compatibility_only_row check (only_row),
    oldest_migration bigint not null
);
insert into schema_compatibility (oldest_migration) values (6);
