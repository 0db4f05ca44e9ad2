-- What each user's completed transfers to a payee add up to, so that scoring a transfer reads a row for each payee, not
-- every transfer. Written by the statement that completes a transfer. No status follows `completed`, so nothing is ever
-- taken off.
create table payee_total (
    owner text collate "C" not null,
    -- As in `transfer`: deleting and re-saving a beneficiary makes no difference.
    payee_key text collate "C" not null,
    transfers bigint not null constraint payee_total_transfers check (transfers > 0),
    -- The sum of many bigints.
    amount numeric not null,
    largest bigint not null,
    primary key (owner, payee_key),
    constraint payee_total_amount check (amount >= largest and largest > 0)
) with (
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

insert into payee_total (owner, payee_key, transfers, amount, largest)
    select owner, payee_key, count(*), sum(amount), max(amount)
    from transfer where kind = 'spei' and status = 'completed' group by owner, payee_key;

-- Earlier programs complete transfers without adding them up.
update schema_compatibility set oldest_migration = 20;
