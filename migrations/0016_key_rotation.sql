-- Keys that were replaced: what each one sealed, so that nobody who has it can seal anything else with it.

-- Append-only. Each row and its heads are covered by an audit record under the present key.
create table retired_key (
    fingerprint bytea primary key constraint retired_key_fingerprint check (octet_length(fingerprint) = 32),
    -- The last audit record that the key sealed.
    last_record bigint not null constraint retired_key_last_record unique,
    reason text not null,
    retired_by text not null,
    retired_at timestamptz not null
);

-- The last batch of each chain that a retired key sealed, a tombstone. No writer leases these chains. Append-only.
create table retired_chain (
    chain_id uuid primary key,
    fingerprint bytea not null references retired_key,
    seq bigint not null,
    hash bytea not null constraint retired_chain_hash check (octet_length(hash) = 32)
);
