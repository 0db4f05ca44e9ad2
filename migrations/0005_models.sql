-- Components that may serve, and which of them does.
--
-- A component is its bytes, which are never updated or deleted. What serves is one row per kind,
-- whose epoch counts its changes; every change is kept. A kind without a row is served by what each
-- host was built with.

create table component (
    sha256 bytea primary key constraint component_sha256_length check (octet_length(sha256) = 32),
    -- The program knows its kinds; the database only sees to it that a kind looks like one.
    kind text collate "C" not null constraint component_kind check (kind ~ '^[a-z][a-z-]{0,31}$'),
    -- Semantic version, as the component says.
    version text collate "C" not null,
    -- What answers carry: kind, version and the start of the sha256.
    model_version text collate "C" not null constraint component_model_version unique,
    bytes bytea not null constraint component_bytes_length check (octet_length(bytes) between 1 and 16777216),
    -- How it is run, which follows from its bytes.
    class text not null constraint component_class check (class in ('pure', 'deny-all')),
    -- What the gate found; null for what a host was built with.
    report jsonb,
    -- What its owner says of it; null if nothing, and for what a host was built with. It can be added or replaced later.
    card jsonb,
    -- Digests of the cases that it was asked and of what it answered; hosts compare them before it serves.
    answers text collate "C" not null,
    registered_by text not null,
    registered_at timestamptz not null,
    -- Of its bytes, by one of those who may release models: in base64, as it was sent. It can be added or replaced later.
    signature text,
    signature_added_by text,
    signature_added_at timestamptz,
    constraint component_signature check (num_nulls(signature, signature_added_by, signature_added_at) in (0, 3))
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
    -- A canary answers a share of the users, shadows are asked after the answer and only compared, as is a canary with
    -- a share of 0.
    canary bytea references component,
    canary_percent smallint constraint deployment_canary_percent check (canary_percent between 0 and 99),
    -- The share of the compared answers that may be of another class before the canary is withdrawn.
    canary_max_flip_percent smallint
        constraint deployment_canary_max_flip_percent check (canary_max_flip_percent between 1 and 100),
    shadows bytea[] not null constraint deployment_shadows check (cardinality(shadows) <= 4),
    -- Whether the version before answers when the champion fails: not after a rollback from it.
    has_fallback boolean not null,
    -- The oldest version that may be deployed, such as 2.0.0; null while any may.
    minimum_release text,
    -- Scores from which a risk is medium and high; null for the defaults of the contract.
    medium_from double precision,
    high_from double precision,
    reason text not null,
    changed_by text not null,
    changed_at timestamptz not null,
    constraint deployment_canary check (num_nonnulls(canary, canary_percent, canary_max_flip_percent) in (0, 3)),
    -- Rules change for everybody at once.
    constraint deployment_rules check (kind <> 'transfer-rules' or canary is null),
    constraint deployment_cut_offs check (
        num_nulls(medium_from, high_from) = 2
        or kind = 'risk' and num_nulls(medium_from, high_from) = 0 and 0 < medium_from and medium_from < high_from
            and high_from <= 1
    )
);

-- In the same order, so that a row of the one is a row of the other.
create table deployment_history (
    kind text collate "C" not null,
    epoch bigint not null,
    champion bytea not null,
    previous bytea not null,
    canary bytea,
    canary_percent smallint,
    canary_max_flip_percent smallint,
    shadows bytea[] not null,
    has_fallback boolean not null,
    minimum_release text,
    medium_from double precision,
    high_from double precision,
    reason text not null,
    changed_by text not null,
    changed_at timestamptz not null,
    -- When the first host served the champion; null if none ever did. A rollback returns to the latest that served.
    served_at timestamptz,
    primary key (kind, epoch)
);

-- Canaries whose share of the users grows by itself as long as what all hosts see of them allows it. Audit records cover
-- every state of a row.
create table rollout (
    rollout_id uuid primary key,
    kind text collate "C" not null,
    canary bytea not null references component,
    -- Percentages of users, ascending. The last is 100: the canary becomes the champion.
    steps smallint[] not null
        constraint rollout_steps check (cardinality(steps) >= 1 and cardinality(steps) <= 10 and steps[cardinality(steps)] = 100),
    -- Decisions of the canary that each step takes, and how long it takes at least.
    step_decisions int not null constraint rollout_step_decisions check (step_decisions > 0),
    step_seconds int not null constraint rollout_step_seconds check (step_seconds >= 0),
    -- Of the canary's decisions; of the answers that were compared.
    max_failure_percent smallint not null
        constraint rollout_max_failure_percent check (max_failure_percent between 1 and 100),
    max_flip_percent smallint not null constraint rollout_max_flip_percent check (max_flip_percent between 1 and 100),
    -- Whether a violated bound takes the canary from everybody, or waits for a person.
    on_violation text not null constraint rollout_on_violation check (on_violation in ('withdraw', 'pause')),
    -- Whether the operator promotes the version although it was withdrawn or rolled back before.
    despite_setback boolean not null,
    -- SHA-256 of a fork's report, for the approver of the promotion.
    fork_report text,
    reason text not null,
    started_by text not null,
    -- Who vouches for that name; null if the token does not say.
    started_issuer text,
    started_at timestamptz not null,
    state text not null constraint rollout_state
        check (state in ('running', 'paused', 'waiting', 'completed', 'stopped', 'aborted', 'replaced')),
    -- The present step, from 0, the deployment that it made and when.
    step smallint not null constraint rollout_step check (step between 0 and cardinality(steps) - 1),
    epoch bigint not null,
    step_at timestamptz not null,
    -- Why it is in this state.
    detail text not null,
    -- The promotion that waits for a second operator; null if none does.
    approval_id uuid constraint rollout_approval check ((approval_id is not null) = (state = 'waiting')),
    changed_by text not null,
    changed_at timestamptz not null
);
create unique index rollout_open on rollout (kind) where state in ('running', 'paused', 'waiting');
create index rollout_by_kind on rollout (kind, started_at desc);

-- What was seen of challengers beside the champion: counts by bucket, to which every host adds. No request, answer or user
-- is kept here.
create table comparison (
    kind text collate "C" not null,
    epoch bigint not null,
    -- The challenger, or the champion for what concerns all requests.
    sha256 bytea not null,
    -- What is counted: flips, differences, scores, times, failures, one fact of the requests.
    measure text collate "C" not null,
    bucket integer not null,
    count bigint not null constraint comparison_count check (count > 0),
    primary key (kind, epoch, sha256, measure, bucket)
);

-- The part of these counts by which rollouts go: the first decision of each user, as each host saw it. A host replaces its
-- own row and seals it, so that nobody without the key promotes a version.
create table rollout_evidence (
    kind text collate "C" not null,
    epoch bigint not null,
    -- The canary.
    sha256 bytea not null,
    -- A host that was restarted is another one.
    host_id uuid not null,
    -- JSON: measure, bucket and count.
    counts text not null,
    -- A keyed digest of the row.
    seal bytea not null,
    primary key (kind, epoch, sha256, host_id)
);

-- What each version does, minute by minute: counts to which every host adds, kept for two days. No request and no answer
-- is kept here.
create table traffic (
    minute timestamptz not null,
    kind text collate "C" not null,
    sha256 bytea not null,
    -- What is counted: answers, their classes and times, failures, answers compared with the champion's, and flips.
    measure text collate "C" not null,
    bucket integer not null,
    count bigint not null constraint traffic_count check (count > 0),
    primary key (minute, kind, sha256, measure, bucket)
);

-- The decisions of models that a batch's orders rest on, whole: see host/core/src/ledger/kept.rs. The batch seals them. They
-- are deleted when they are old, a batch at a time, which leaves the seal as it is.
create table decision (
    chain_id uuid not null,
    seq bigint not null,
    created_at timestamptz not null,
    decisions bytea not null constraint decision_not_empty check (decisions <> ''),
    primary key (chain_id, seq)
);
-- Compressing them would take longer than it saves.
alter table decision alter column decisions set storage external;
create index decision_by_time on decision using brin (created_at) with (autosummarize = on);

-- What each host serves of each kind, so that operators see a deployment arrive. A host reports every few seconds, on the
-- database's clock, which all hosts share. A host that was not seen for a while is gone; its rows are removed later.
create table host_status (
    host_id uuid not null,
    -- What operators call the machine.
    machine text not null,
    kind text collate "C" not null,
    -- The deployment that the host follows; 0 where nothing was deployed.
    epoch bigint not null constraint host_status_epoch check (epoch >= 0),
    state text not null constraint host_status_state check (state in ('serving', 'loading', 'failed')),
    -- The champion that answers on this host meanwhile; null where none does.
    champion bytea constraint host_status_champion check (octet_length(champion) = 32),
    -- Why it failed.
    detail text,
    -- Start of this state.
    since timestamptz not null,
    seen_at timestamptz not null,
    primary key (host_id, kind)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
