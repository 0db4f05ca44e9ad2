-- What each host serves of each kind, so that operators see a deployment arrive.
--
-- A host reports every few seconds, on the database's clock, which all hosts share. A host that was not
-- seen for a while is gone; its rows are removed later.

create table host_status (
    host_id uuid not null,
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

-- When the first host served the champion of a deployment; null if none ever did. A rollback returns to
-- the latest champion that served. Deployments before this migration count as served.
alter table deployment_history add column served_at timestamptz;
update deployment_history set served_at = changed_at;
