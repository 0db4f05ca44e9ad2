//! Compares what the database's catalogue says of the schema with what the migrations make of it.
//!
//! A trigger that somebody adds acts within a host's own transaction and can leave every row as it should be, so no
//! proof of rows finds what it did. Nor does one tell a unique index from another that only has its name.

use std::collections::BTreeMap;

use sqlx::PgConnection;

/// What the migrations make: a line for each object. A test generates it.
const EXPECTED: &str = include_str!("../../../../migrations/catalogue.txt");

/// Objects that a later release's migrations may add. Anything else that is additional could act on what hosts do.
const ADDABLE: [&str; 5] = ["table ", "view ", "column ", "constraint ", "index "];

/// Every object of the schema `public`, and what makes another schema or behaviour of it: its name, and its definition.
///
/// # Errors
/// When the database fails.
pub async fn lines(db: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with t as (
            select oid, relname, case relkind when 'r' then 'table' when 'v' then 'view' else 'relation' end as kind,
                relkind::text, relowner, relrowsecurity, relforcerowsecurity, relpersistence::text
            from pg_class where relnamespace = 'public'::regnamespace and relkind not in ('i', 'I')
        ), lines (line) as (
            -- Objects of one schema have one owner, whatever its name is.
            select kind || ' ' || relname || coalesce(': ' || nullif(concat_ws(', ',
                case when relkind not in ('r', 'v') then 'kind ' || relkind end,
                case when relowner is distinct from (select relowner from t where relname = 'audit_record')
                    then 'of another owner' end,
                case when relrowsecurity or relforcerowsecurity then 'row security' end,
                case when relpersistence <> 'p' then 'persistence ' || relpersistence end
            ), ''), '')
            from t
            union all
            select 'column ' || relname || '.' || attname || ': ' || format_type(atttypid, atttypmod)
                || case when attcollation not in (0, '"default"'::regcollation)
                    then ' collate ' || (select collname from pg_collation where oid = attcollation) else '' end
                || case when attnotnull then ' not null' else '' end
                || coalesce(' default ' || pg_get_expr(adbin, adrelid), '')
                || case when attidentity <> '' or attgenerated <> '' then ' generated' else '' end
            from t join pg_attribute a on attrelid = t.oid left join pg_attrdef on adrelid = t.oid and adnum = attnum
            where attnum > 0 and not attisdropped
            union all
            -- Later servers also list what is not null, which columns say.
            select 'constraint ' || relname || '.' || conname || ': ' || pg_get_constraintdef(c.oid)
                || case when convalidated then '' else ' not valid' end
            from t join pg_constraint c on conrelid = t.oid where contype <> 'n'
            union all
            select 'index ' || i.relname || ': ' || pg_get_indexdef(i.oid)
                || case when indisvalid and indisready and indislive then '' else ' not valid' end
            from t join pg_index on indrelid = t.oid join pg_class i on i.oid = indexrelid
            union all
            select 'trigger ' || relname || '.' || tgname || ': ' || pg_get_triggerdef(g.oid)
            from t join pg_trigger g on tgrelid = t.oid where not tgisinternal
            union all
            select 'disabled constraint ' || relname || '.' || conname
            from t join pg_trigger on tgrelid = t.oid join pg_constraint c on c.oid = tgconstraint
            where tgisinternal and tgenabled <> 'O'
            union all
            select 'rule ' || relname || '.' || rulename || ': ' || pg_get_ruledef(r.oid)
            from t join pg_rewrite r on ev_class = t.oid where not (relkind = 'v' and rulename = '_RETURN')
            union all
            select 'policy ' || relname || '.' || polname from t join pg_policy on polrelid = t.oid
            union all
            select 'inheritance ' || inhrelid::regclass::text || ' of ' || relname from t join pg_inherits on inhparent = t.oid
            union all
            select 'function ' || oid::regprocedure::text from pg_proc where pronamespace = 'public'::regnamespace
            union all
            select 'operator ' || oid::regoperator::text from pg_operator where oprnamespace = 'public'::regnamespace
            union all
            -- They act on statements that do not name them. Those of Postgres itself have lower numbers.
            select 'cast ' || castsource::regtype::text || ' as ' || casttarget::regtype::text from pg_cast where oid >= 16384
            union all
            select 'event trigger ' || evtname from pg_event_trigger
            union all
            select 'type ' || typname from pg_type
            where typnamespace = 'public'::regnamespace and typtype not in ('c', 'p') and typcategory <> 'A'
            union all
            -- Some make a statement mean something else.
            select 'setting of ' || coalesce((select rolname from pg_roles where oid = setrole), 'every role') || ', ' || setting
            from pg_db_role_setting, unnest(setconfig) as setting
            where setdatabase in (0, (select oid from pg_database where datname = current_database()))
                and split_part(setting, '=', 1) ~*
                    '^(search_path|role|row_security|session_replication_role|.*_preload_libraries|transform_null_equals|standard_conforming_strings)$'
        )
        select line as "line!" from lines order by line collate "C"
        "#
    )
    .fetch_all(db)
    .await
}

/// How the schema differs from that of the migrations. `is_newer` says that a later release has migrated it.
///
/// # Errors
/// When the database fails.
pub async fn differences(db: &mut PgConnection, is_newer: bool) -> Result<Vec<String>, sqlx::Error> {
    fn parse(line: &str) -> (&str, &str) {
        line.split_once(": ").unwrap_or((line, ""))
    }
    let lines = lines(db).await?;
    let found: BTreeMap<_, _> = lines.iter().map(|line| parse(line)).collect();
    let expected: BTreeMap<_, _> = EXPECTED.lines().map(parse).collect();
    let missing = expected.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} is missing"));
    let others = found.iter().filter_map(|(name, definition)| match expected.get(name) {
        Some(expected) if expected == definition => None,
        Some(expected) => Some(format!("{name} is `{definition}` instead of `{expected}`")),
        None if is_newer && ADDABLE.iter().any(|kind| name.starts_with(kind)) => None,
        None => Some(format!("{name} is additional")),
    });
    Ok(missing.chain(others).collect())
}
