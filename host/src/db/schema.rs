//! Migrates the tables, and tells which programs may use them.

use sqlx::PgConnection;
use sqlx::migrate::{Migrate as _, MigrateError, Migrator};

use crate::MIGRATOR;

/// Postgres' code for a table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error(transparent)]
    Migration(#[from] MigrateError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(
        "a newer release has migrated this database, and only programs that know migration {oldest} may use it; this one \
         knows up to {known}: start the newer release"
    )]
    TooOld { oldest: i64, known: i64 },
}

/// Whether no migration has ever run here.
///
/// # Errors
/// If the database fails.
pub(crate) async fn is_empty(db: &mut PgConnection) -> Result<bool, MigrateError> {
    Ok(last_applied(db).await?.is_none())
}

/// Applies the migrations that this program knows. Newer ones may be there if the release that made them still supports
/// this program.
///
/// # Errors
/// If this program is too old, or a migration fails.
pub async fn migrate(db: &mut PgConnection) -> Result<(), SchemaError> {
    let known = MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or(0);
    if last_applied(db).await?.is_some_and(|last| last > known) {
        let oldest =
            sqlx::query_scalar!("select oldest_migration from schema_compatibility").fetch_one(&mut *db).await?;
        if oldest > known {
            return Err(SchemaError::TooOld { oldest, known });
        }
        tracing::info!("a newer release has migrated this database and still supports this program");
    }
    let mut migrator = Migrator::with_migrations(MIGRATOR.iter().cloned().collect());
    Ok(migrator.set_ignore_missing(true).run(db).await?)
}

async fn last_applied(db: &mut PgConnection) -> Result<Option<i64>, MigrateError> {
    match db.list_applied_migrations(&MIGRATOR.table_name).await {
        Err(MigrateError::Execute(sqlx::Error::Database(error)))
            if error.code().as_deref() == Some(UNDEFINED_TABLE) =>
        {
            Ok(None)
        }
        applied => Ok(applied?.iter().map(|migration| migration.version).max()),
    }
}
