-- A deployment may have challengers: a canary answers a share of the users, shadows are asked after the
-- answer and only compared.

-- How a component is run, which follows from its bytes.
alter table component
    add column class text not null default 'pure'
        constraint component_class check (class in ('pure', 'deny-all'));

alter table deployment
    add column canary bytea references component,
    add column canary_percent smallint
        constraint deployment_canary_percent check (canary_percent between 1 and 99),
    -- The share of the compared answers that may be of another class before the canary is withdrawn.
    add column canary_max_flip_percent smallint
        constraint deployment_canary_max_flip_percent check (canary_max_flip_percent between 1 and 100),
    add column shadows bytea[] not null default '{}'
        constraint deployment_shadows check (cardinality(shadows) <= 4),
    -- Whether the version before answers when the champion fails: not after a rollback from it.
    add column stands_in boolean not null default true,
    -- The oldest version that may be deployed, such as 2.0.0; null while any may.
    add column minimum_release text,
    add constraint deployment_canary
        check (num_nonnulls(canary, canary_percent, canary_max_flip_percent) in (0, 3)),
    -- Rules change for everybody at once.
    add constraint deployment_rules
        check (kind <> 'transfer-rules' or (canary is null and cardinality(shadows) = 0));

-- In the same order, so that a row of the one is a row of the other.
alter table deployment_history
    add column canary bytea,
    add column canary_percent smallint,
    add column canary_max_flip_percent smallint,
    add column shadows bytea[] not null default '{}',
    add column stands_in boolean not null default true,
    add column minimum_release text;

-- What was seen of challengers beside the champion: counts by bucket, to which every host adds. No
-- request and no answer is kept here, and of users only a hash with a key that a host forgets when it stops.
create table comparison (
    kind text collate "C" not null,
    epoch bigint not null,
    -- The challenger, or the champion for what concerns all requests.
    sha256 bytea not null,
    -- What is counted: flips, differences, scores, times, failures, one fact of the requests.
    measure text collate "C" not null,
    bucket integer not null,
    count bigint not null constraint comparison_count check (count > 0),
    -- Of whom, for the few decisions of each user by which a rollout goes; 0 for all others.
    user_hash bigint not null,
    primary key (kind, epoch, sha256, measure, bucket, user_hash)
);
