-- Canaries whose share of the users grows by itself as long as what all hosts see of them allows it. Audit records cover
-- every state of a row.

create table rollout (
    rollout_id uuid primary key,
    kind text collate "C" not null,
    canary bytea not null references component,
    -- Percentages of users, ascending. The last is 100: the canary becomes the champion.
    steps smallint[] not null
        constraint rollout_steps check (cardinality(steps) between 1 and 10 and steps[cardinality(steps)] = 100),
    -- Decisions of the canary that each step takes, and how long it takes at least.
    step_decisions int not null constraint rollout_step_decisions check (step_decisions > 0),
    step_seconds int not null constraint rollout_step_seconds check (step_seconds >= 0),
    -- Of the canary's decisions; of the answers that were compared; of the champion's 95th percentile.
    max_failure_percent smallint not null
        constraint rollout_max_failure_percent check (max_failure_percent between 1 and 100),
    max_flip_percent smallint not null constraint rollout_max_flip_percent check (max_flip_percent between 1 and 100),
    max_latency_percent smallint not null
        constraint rollout_max_latency_percent check (max_latency_percent between 100 and 10000),
    -- Whether the operator promotes the version although it was withdrawn or rolled back before.
    despite_setback boolean not null,
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
