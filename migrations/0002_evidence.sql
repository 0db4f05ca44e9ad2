-- Evidence that cannot be altered unnoticed without the ledger's key: the key, the chains of batches, and a chain of records
-- of every change to payees, limits, components and deployments, and of operators' actions.

-- Which key the hashes are made with: a fingerprint of it, so that no host goes on with another one.
create table ledger_key (
    only_one boolean primary key default true constraint ledger_key_only_one check (only_one),
    fingerprint bytea not null,
    created_at timestamptz not null
);

-- Append-only. Each row and its heads are covered by an audit record under the present key.
create table retired_key (
    fingerprint bytea primary key constraint retired_key_fingerprint check (octet_length(fingerprint) = 32),
    -- The last audit record of the first chain that the key sealed.
    last_record bigint not null constraint retired_key_last_record unique,
    reason text not null,
    retired_by text not null,
    retired_at timestamptz not null
);

-- What a retired key sealed last in each chain: of batches a tombstone, and no writer leases those chains; of the audit
-- records of what users change, a record that the next key's follow. Append-only.
create table retired_chain (
    chain_id uuid not null,
    fingerprint bytea not null references retired_key,
    seq bigint not null,
    hash bytea not null constraint retired_chain_hash check (octet_length(hash) = 32),
    primary key (chain_id, seq)
);

-- The chains of batches. Audit records announce them. Append-only.
create table chain_origin (
    chain_id uuid primary key,
    stripe smallint not null constraint chain_origin_stripe unique,
    created_at timestamptz not null
);

-- Batches and records that a failover lost, as an operator accepted. Append-only.
create table lost_tail (
    -- Of batches or audit records.
    chain_id uuid not null,
    from_seq bigint not null,
    to_seq bigint not null,
    -- Of the lost ones that a host recorded outside the database, in order: the last is that of to_seq. No others are
    -- forgiven.
    head_hashes bytea[] not null constraint lost_tail_head_hashes check (cardinality(head_hashes) > 0),
    reason text not null,
    accepted_by text not null,
    accepted_at timestamptz not null,
    primary key (chain_id, from_seq, to_seq),
    constraint lost_tail_order check (from_seq <= to_seq)
);

-- Append-only. Written in the transaction of the change that it records; each carries a keyed hash over itself and the
-- record before it in its chain.
create table audit_record (
    -- 0 for what operators and hosts do; for what users change, 1 to 32 by its key.
    chain_id uuid not null,
    seq bigint not null constraint audit_record_seq check (seq >= 0),
    -- The record before it about the same thing; null if there was none.
    follows bigint constraint audit_record_follows check (follows < seq),
    -- What kind of thing changed, and which one.
    subject text collate "C" not null,
    subject_key text collate "C" not null,
    action text not null,
    actor text not null,
    -- Keyed digest of the row after the change; null if it is gone. A keyed one cannot be guessed from a short list of
    -- names or account numbers, so what was deleted for good stays deleted.
    state bytea constraint audit_record_state check (octet_length(state) = 32),
    -- What was digested, where it holds nothing that is ever to be erased: limits, deployments and the policy. What was in
    -- force at any time can be read here.
    content jsonb,
    recorded_at timestamptz not null,
    prev bytea not null constraint audit_record_prev check (octet_length(prev) = 32),
    hash bytea not null constraint audit_record_hash check (octet_length(hash) = 32),
    primary key (chain_id, seq)
);
-- The last record of each thing.
create index audit_record_by_subject on audit_record (subject, subject_key, seq);

-- The last record of each chain, locked while the next one is appended; -1 if there is none.
create table audit_head (
    chain_id uuid primary key,
    seq bigint not null constraint audit_head_seq check (seq >= -1),
    hash bytea not null constraint audit_head_hash check (octet_length(hash) = 32)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
insert into audit_head (chain_id, seq, hash)
select lpad(to_hex(number), 32, '0')::uuid, -1, decode(repeat('00', 32), 'hex') from generate_series(0, 32) as number;

-- What became of transfers, holds and refused orders, as it became known. Append-only: what is known later corrects what
-- was stated before. Audit records cover each row.
create table outcome (
    outcome_id uuid primary key,
    -- The transfer or hold; of a refused order, what its decision is about.
    subject_id uuid not null,
    kind text collate "C" not null constraint outcome_kind check (
        kind in ('reported', 'confirmed_fraud', 'authorised_scam', 'false_alarm', 'help_accepted', 'withdrawn')
    ),
    -- Who says so: a short code such as customer, operator or chargeback.
    source text collate "C" not null constraint outcome_source check (source ~ '^[!-~]{1,32}$'),
    known_at timestamptz not null,
    recorded_by text not null,
    recorded_at timestamptz not null,
    constraint outcome_once unique (subject_id, kind, source, known_at)
);

-- What all hosts keep to, whatever each was started with. Audit records cover it.
create table policy (
    -- The settings, which the owner of the tables changes; or that hosts have waited for replicas, which they only add.
    part text collate "C" primary key constraint policy_part check (part in ('settings', 'replicas')),
    content text not null,
    changed_by text not null,
    changed_at timestamptz not null
);
