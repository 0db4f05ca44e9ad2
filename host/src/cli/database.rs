//! The database of a command: the given one, or the private one of the data folder.

use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::config::Common;
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
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(CONNECTION_WAIT)
            .connect_with(options)
            .await
            .context("cannot connect to Postgres: start it, or correct DATABASE_URL")?;
        crate::MIGRATOR.run(&pool).await.context("cannot migrate the database")?;
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
