//! What the roles of the database may do. All other tests here run the service as the role that hosts have.

use std::collections::BTreeSet;

use caudal::db::roles::{GRANTS, Proof, SERVE, VERIFY};
use sqlx::{AssertSqlSafe, Executor as _, PgPool};

use crate::harness::as_role;

/// Postgres' code for what a role may not do.
const FORBIDDEN: &str = "42501";

/// Whether a statement is refused for lack of rights; one that is not must succeed.
async fn is_refused(db: &PgPool, statement: String) -> bool {
    match db.execute(AssertSqlSafe(statement.clone())).await {
        Ok(_) => false,
        Err(error) => {
            let code = error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned());
            assert_eq!(code.as_deref(), Some(FORBIDDEN), "{statement}: {error}");
            true
        }
    }
}

/// Columns of a table, in the catalogue.
async fn columns(db: &PgPool, table: &str) -> Vec<String> {
    let columns = "select attname::text from pg_attribute where attrelid = ('public.' || $1)::regclass and attnum > 0 \
        and not attisdropped order by attnum";
    sqlx::query_scalar(columns).bind(table).fetch_all(db).await.unwrap()
}

/// The columns that a line lets the role change.
fn changeable(rights: &str) -> BTreeSet<&str> {
    let listed = rights.split_once("update (").and_then(|(_, rest)| rest.split_once(')'));
    assert_eq!(listed.is_some(), rights.contains("update"), "columns are listed: {rights}");
    listed.map(|(columns, _)| columns.split(", ").collect()).unwrap_or_default()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_table_has_a_line_of_grants(db: PgPool) {
    let tables = "select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
        -- Types of rows: nobody reads these.
        and relname not like '%\\_row'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&db).await.unwrap();
    let listed: BTreeSet<_> = GRANTS.iter().map(|(table, ..)| (*table).to_owned()).collect();
    assert_eq!(listed.len(), GRANTS.len(), "each once");
    assert_eq!(listed, tables.into_iter().collect());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn history_can_only_grow(db: PgPool) {
    let (serve, verify) = (as_role(&db, SERVE).await, as_role(&db, VERIFY).await);
    let mut only_grow = 0;
    for (table, rights, proof) in GRANTS {
        let changeable = changeable(rights);
        for column in columns(&db, table).await {
            let update = format!("update public.{table} set {column} = {column} where false");
            assert_eq!(is_refused(&serve, update.clone()).await, !changeable.contains(&column[..]), "{update}");
            assert!(is_refused(&verify, update).await, "{table}");
        }
        let delete = format!("delete from public.{table} where false");
        assert_eq!(is_refused(&serve, delete.clone()).await, !rights.contains("delete"), "{delete}");
        assert!(is_refused(&verify, delete).await, "{table}");
        for forbidden in ["truncate public.", "alter table public.", "drop table public."] {
            let rest = if forbidden.starts_with("alter") { " disable trigger all" } else { "" };
            for role in [&serve, &verify] {
                assert!(is_refused(role, format!("{forbidden}{table}{rest}")).await, "{forbidden}{table}");
            }
        }
        let read = format!("select * from public.{table} limit 1");
        assert!(!is_refused(&serve, read.clone()).await, "{table}");
        assert_eq!(is_refused(&verify, read).await, *proof == Proof::Ignores, "{table}");
        only_grow += usize::from(*rights == "insert");
    }
    assert!(only_grow >= 14, "{only_grow} tables");
    for role in [&serve, &verify] {
        assert!(is_refused(role, "create table public.another (id int)".to_owned()).await);
        assert!(is_refused(role, "create role another".to_owned()).await);
        assert!(is_refused(role, "set session_replication_role = replica".to_owned()).await);
        role.close().await;
    }
}
