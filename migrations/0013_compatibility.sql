-- Which programs may serve from this database: those that know at least this migration. A release whose migrations only
-- add leaves it, so that the release before it still serves, beside it or after going back; one that removes what older
-- programs use raises it.
create table schema_compatibility (
    only_row boolean primary key default true constraint schema_compatibility_only_row check (only_row),
    oldest_migration bigint not null
);
insert into schema_compatibility (oldest_migration) values (13);
