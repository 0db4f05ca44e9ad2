-- Components that may serve, and which of them does.
--
-- A component is its bytes: nothing here is ever updated or deleted. What serves is one row per kind,
-- whose epoch counts its changes; every change is kept. A kind without a row is served by what each
-- host was built with.

create table component (
    sha256 bytea primary key constraint component_sha256_length check (octet_length(sha256) = 32),
    kind text collate "C" not null
        constraint component_kind check (kind in ('risk', 'nudge', 'accessibility', 'transfer-rules')),
    -- Semantic version, as the component says.
    version text collate "C" not null,
    -- What answers carry: kind, version and the start of the sha256.
    model_version text collate "C" not null constraint component_model_version unique,
    bytes bytea not null constraint component_bytes_length check (octet_length(bytes) between 1 and 16777216),
    -- What the gate found; null for what a host was built with.
    report jsonb,
    -- Digests of the cases that it was asked and of what it answered; hosts compare them before it serves.
    answers text collate "C" not null,
    registered_by text not null,
    registered_at timestamptz not null
);
-- A version that was pushed names one component for good. What hosts are built with is exempt: another
-- toolchain makes other bytes of the same version.
create unique index component_pushed_version on component (kind, version) where report is not null;

create table deployment (
    kind text collate "C" primary key,
    epoch bigint not null constraint deployment_epoch check (epoch > 0),
    champion bytea not null references component,
    -- What a rollback returns to.
    previous bytea not null references component,
    reason text not null,
    changed_by text not null,
    changed_at timestamptz not null
);

create table deployment_history (
    kind text collate "C" not null,
    epoch bigint not null,
    champion bytea not null,
    previous bytea not null,
    reason text not null,
    changed_by text not null,
    changed_at timestamptz not null,
    primary key (kind, epoch)
);
