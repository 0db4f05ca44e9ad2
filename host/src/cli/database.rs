//! The database of a command: the given one, or the private one of the data folder.

use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgPool};

use crate::config::Common;
use crate::postgres::Server;

/// Connections of one host: more than a small machine can work on only wait for each other.
const CONNECTIONS_MAX: u32 = 16;

/// How long a request waits for a connection before it is told that the service is busy.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// What a session may take before Postgres ends it: a statement, the wait for a lock in one, and a
/// transaction that nobody goes on with. All are far above the milliseconds that ours need.
const SESSION_LIMITS: &str =
    "set statement_timeout = '20s'; set lock_timeout = '10s'; set idle_in_transaction_session_timeout = '20s'";

/// A pool and, if it is ours, the server behind it.
pub(super) struct Database {
    pub(super) pool: PgPool,
    server: Option<Server>,
}

/// Whether a command needs the private server for itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It may be another process's.
    Shared,
    /// It has to live as long as this process.
    Owned,
}

impl Database {
    /// Connects, and brings the tables up to date.
    pub(super) async fn open(common: &Common, wanted: Use) -> Result<Self> {
        let (options, server) = match &common.database_url {
            Some(url) => {
                let options = url.parse::<PgConnectOptions>();
                (options.context("DATABASE_URL is not like postgres://user@host/database")?, None)
            }
            None => {
                let server =
                    Server::start(&common.data_dir, common.postgres_bin.as_deref(), wanted == Use::Owned).await?;
                (server.options(), Some(server))
            }
        };
        let pool = match connect(options).await {
            Ok(pool) => pool,
            Err(error) => {
                if let Some(server) = server {
                    server.stop().await?;
                }
                return Err(error);
            }
        };
        Ok(Self { pool, server })
    }

    /// Closes the pool and stops the server if it is ours.
    pub(super) async fn close(self) -> Result<()> {
        self.pool.close().await;
        match self.server {
            Some(server) => server.stop().await,
            None => Ok(()),
        }
    }
}

async fn connect(options: PgConnectOptions) -> Result<PgPool> {
    let unreachable = "cannot connect to Postgres: start it, or correct DATABASE_URL";
    // A migration may take its time, so it has a connection of its own without a limit.
    let mut db = options.connect().await.context(unreachable)?;
    crate::MIGRATOR.run(&mut db).await.context("cannot migrate the database")?;
    db.close().await.context(unreachable)?;
    PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(CONNECTION_WAIT)
        // By a statement rather than a start-up parameter, which connection poolers refuse.
        .after_connect(|db, _| Box::pin(async move { db.execute(SESSION_LIMITS).await.map(drop) }))
        .connect_with(options)
        .await
        .context(unreachable)
}
