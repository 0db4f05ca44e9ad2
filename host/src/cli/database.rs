//! The database of a command: the given one, or the private one of the data folder.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, PgPool};

use crate::config::Common;
use crate::db::session;
use crate::postgres::Server;

/// Connections of one host: more than a small machine can work on only wait for each other.
const CONNECTIONS_MAX: u32 = 16;

/// How long a request waits for a connection before it is told that the service is busy.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);

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

    /// Waits until a server of ours is gone without having been told to, and says so.
    pub(super) async fn lost(&self) -> anyhow::Error {
        match &self.server {
            Some(server) => server.lost().await,
            None => std::future::pending().await,
        }
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
    if !session::is_durable(&mut db).await.context(unreachable)? {
        bail!("Postgres is set to synchronous_commit = off, which may lose answered transfers: turn it on");
    }
    db.close().await.context(unreachable)?;
    PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(CONNECTION_WAIT)
        .after_connect(|db, _| Box::pin(session::prepare(db)))
        .connect_with(options)
        .await
        .context(unreachable)
}
