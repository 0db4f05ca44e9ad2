//! How keys are ordered, and what a migration waits for.

use std::time::{Duration, Instant};

use caudal::MIGRATOR;
use caudal::db::catalogue;
use caudal::db::schema::{SchemaError, migrate_to};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Executor as _, PgPool, SqlStr};

/// A library that orders text otherwise than before makes an index miss the keys it holds, so that a key counts twice.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn text_is_indexed_in_the_order_of_its_bytes(db: PgPool) {
    let others = r#"
        select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = i.indrelid
        where c.relnamespace = 'public'::regnamespace
            and exists (select from unnest(i.indcollation::oid[]) as it where it not in (0, '"C"'::regcollation::oid))
    "#;
    let others: Vec<String> = sqlx::query_scalar(others).fetch_all(&db).await.unwrap();
    assert!(others.is_empty(), "indexes on text without collate \"C\": {others:?}");
}

/// Hosts and `caudal verify` compare the schema with this file.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_catalogue_is_what_the_migrations_make(db: PgPool) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations/catalogue.txt");
    let found = catalogue::lines(&mut db.acquire().await.unwrap()).await.unwrap().join("\n") + "\n";
    if std::env::var_os("RENEW").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    assert!(found == std::fs::read_to_string(path).unwrap(), "RENEW=1 and this test renew migrations/catalogue.txt");
}

/// A dump holds them as text, and what is read from it may be written otherwise.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn constraints_are_the_same_after_a_dump(db: PgPool) {
    let checks = r#"
        select format('alter table %s drop constraint %I cascade, add constraint %2$I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
        from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace and conrelid <> 0
    "#;
    let mut db = db.acquire().await.unwrap();
    let before = catalogue::lines(&mut db).await.unwrap();
    let again: Vec<String> = sqlx::query_scalar(checks).fetch_all(&mut *db).await.unwrap();
    assert!(again.len() > 50, "{}", again.len());
    for change in again {
        sqlx::raw_sql(sqlx::AssertSqlSafe(change)).execute(&mut *db).await.unwrap();
    }
    assert_eq!(catalogue::lines(&mut db).await.unwrap(), before);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_migration_that_waits_holds_nobody_up(db: PgPool) {
    let index = SqlStr::from_static("create index idempotency_by_transfer on idempotency (transfer_id)");
    let next = Migration::new(900, "an index".into(), MigrationType::Simple, index, false);
    let migrator = Migrator::with_migrations(MIGRATOR.iter().cloned().chain([next]).collect());
    let write = "lock table idempotency in row exclusive mode";
    let (mut long, mut short, mut owner) =
        (db.begin().await.unwrap(), db.begin().await.unwrap(), db.acquire().await.unwrap());
    long.execute(write).await.unwrap();
    let behind = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let begun = Instant::now();
        short.execute(write).await.unwrap();
        short.commit().await.unwrap();
        begun.elapsed()
    };
    let migration = tokio::time::timeout(Duration::from_secs(20), migrate_to(&mut owner, &migrator));
    let (migrated, waited) = tokio::join!(migration, behind);
    assert!(matches!(migrated, Ok(Err(SchemaError::Locked))), "{migrated:?}");
    assert!(waited < Duration::from_secs(4), "{waited:?}");
    long.commit().await.unwrap();
    migrate_to(&mut owner, &migrator).await.unwrap();
}
