//! Migrates the tables, and tells which programs may use them.

use std::time::Duration;

use sqlx::migrate::{AppliedMigration, Migrate as _, MigrateError, Migrator};
use sqlx::{Executor as _, PgConnection};

use super::{catalogue, roles};

/// The database schema, applied by `caudal migrate`, or by a command whose role owns the tables.
pub static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// Postgres' code for a table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

/// Postgres' code for a lock that was not granted in time.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// A migration that waits for a lock blocks every later query of that table, so it soon gives up.
const LOCK_TIMEOUT: &str = "set lock_timeout = '2s'";

/// How often a migration asks for its locks, and the pause in which what waited behind it goes on.
const ATTEMPTS_MAX: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error(transparent)]
    Migration(#[from] MigrateError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(
        "a table is in use by something long, such as `caudal verify` or pg_dump, and hosts cannot wait behind a \
         migration: run `caudal migrate` again once that is done; what is migrated so far stays"
    )]
    Locked,
    #[error(
        "a newer release has migrated this database, and only programs that know migration {oldest} may use it; this one \
         knows up to {known}: start the newer release"
    )]
    TooOld { oldest: i64, known: i64 },
    #[error("the tables lack migration {missing}: run `caudal migrate` as the owner of the tables")]
    Behind { missing: i64 },
    #[error(
        "this role of the database lacks rights to the table {table}: connect as {role}, and run `caudal migrate` as the \
         owner of the tables, which grants them; `caudal roles` prints the SQL that creates the role",
        role = roles::SERVE
    )]
    Lacking { table: String },
    #[error(
        "the schema is not what the migrations make: {}. Somebody changed it, so hosts may do what they should not: run \
         `caudal verify`, and take it back as the owner of the tables",
        .0.join("; ")
    )]
    Altered(Vec<String>),
}

/// Whether no migration has ever run here.
///
/// # Errors
/// If the database fails.
pub async fn is_empty(db: &mut PgConnection) -> Result<bool, MigrateError> {
    Ok(last_applied(db).await?.is_none())
}

/// Applies the migrations that this program knows, and grants the roles what they need. Newer ones may be there if the
/// release that made them still supports this program; then it grants nothing, since it does not know what they need.
///
/// # Errors
/// If this program is too old, or a migration fails.
pub async fn migrate(db: &mut PgConnection) -> Result<Vec<&'static str>, SchemaError> {
    migrate_to(db, &MIGRATOR).await
}

/// For tests: with the migrations of another release.
///
/// # Errors
/// See [`migrate`].
pub async fn migrate_to(db: &mut PgConnection, migrator: &Migrator) -> Result<Vec<&'static str>, SchemaError> {
    let is_newer = is_newer(db).await?;
    let mut migrator = Migrator::with_migrations(migrator.iter().cloned().collect());
    migrator.set_ignore_missing(true);
    db.execute(LOCK_TIMEOUT).await?;
    for attempt in 1.. {
        match migrator.run(&mut *db).await {
            Err(error) if !is_locked(&error) => return Err(error.into()),
            Err(_) if attempt == ATTEMPTS_MAX => return Err(SchemaError::Locked),
            Err(_) => tokio::time::sleep(PAUSE).await,
            Ok(()) => break,
        }
    }
    if is_newer {
        return Ok(Vec::new());
    }
    Ok(roles::grant(db).await?)
}

fn is_locked(error: &MigrateError) -> bool {
    let (MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) = error else { return false };
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

/// Checks, for a role that may not migrate, that the tables are those that this program knows.
///
/// # Errors
/// If they are not.
pub async fn check(db: &mut PgConnection) -> Result<(), SchemaError> {
    is_newer(db).await?;
    let applied = applied(db).await?;
    for migration in MIGRATOR.iter() {
        match applied.iter().find(|it| it.version == migration.version) {
            None => return Err(SchemaError::Behind { missing: migration.version }),
            Some(it) if it.checksum != migration.checksum => {
                return Err(MigrateError::VersionMismatch(migration.version).into());
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// How the schema differs from what the migrations make. What a later release may have added does not count.
///
/// # Errors
/// If the database fails, or this program is too old.
pub async fn differences(db: &mut PgConnection) -> Result<Vec<String>, SchemaError> {
    let is_newer = is_newer(db).await?;
    Ok(catalogue::differences(db, is_newer).await?)
}

/// Checks that nobody changed the schema.
///
/// # Errors
/// If somebody did.
pub async fn check_catalogue(db: &mut PgConnection) -> Result<(), SchemaError> {
    let differences = differences(db).await?;
    if differences.is_empty() { Ok(()) } else { Err(SchemaError::Altered(differences)) }
}

/// Checks that this connection's role may do what a host does.
///
/// # Errors
/// If it may not.
pub async fn check_rights(db: &mut PgConnection) -> Result<(), SchemaError> {
    match roles::lacking(db).await? {
        Some(table) => Err(SchemaError::Lacking { table }),
        None => Ok(()),
    }
}

/// Whether a newer release, which still supports this program, has migrated the tables.
async fn is_newer(db: &mut PgConnection) -> Result<bool, SchemaError> {
    let known = MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or(0);
    if last_applied(db).await?.is_none_or(|last| last <= known) {
        return Ok(false);
    }
    let oldest = sqlx::query_scalar!("select oldest_migration from schema_compatibility").fetch_one(db).await?;
    if oldest > known {
        return Err(SchemaError::TooOld { oldest, known });
    }
    tracing::info!("a newer release has migrated this database and still supports this program");
    Ok(true)
}

async fn last_applied(db: &mut PgConnection) -> Result<Option<i64>, MigrateError> {
    Ok(applied(db).await?.iter().map(|migration| migration.version).max())
}

/// None where no migration has ever run.
async fn applied(db: &mut PgConnection) -> Result<Vec<AppliedMigration>, MigrateError> {
    match db.list_applied_migrations(&MIGRATOR.table_name).await {
        Err(MigrateError::Execute(sqlx::Error::Database(error)))
            if error.code().as_deref() == Some(UNDEFINED_TABLE) =>
        {
            Ok(Vec::new())
        }
        applied => applied,
    }
}
