//! The server that all share, and a database of its own for each measurement.

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

/// What makes a commit durable, how much memory the server has, and how often it writes everything down.
const SETTINGS: [&str; 10] = [
    "server_version",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "commit_delay",
    "shared_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "max_connections",
];

/// A Postgres that is there already.
pub(crate) struct Server {
    options: PgConnectOptions,
    pid: u32,
}

impl Server {
    pub(crate) async fn new(url: &str) -> Self {
        let options: PgConnectOptions = url.parse().unwrap();
        let mut db = options.connect().await.unwrap();
        let folder: String = sqlx::query_scalar("show data_directory").fetch_one(&mut db).await.unwrap();
        let pid = std::fs::read_to_string(format!("{folder}/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().parse().unwrap();
        Self { options, pid }
    }

    /// The server's first process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) async fn settings(&self) -> String {
        let mut db = self.options.connect().await.unwrap();
        let mut told = Vec::new();
        for name in SETTINGS {
            let value: String =
                sqlx::query_scalar("select current_setting($1)").bind(name).fetch_one(&mut db).await.unwrap();
            told.push(format!("{name} {value}"));
        }
        told.join(", ")
    }

    /// An empty database, with nothing left of an earlier one of this name.
    pub(crate) async fn database(&self, name: &str) -> Database {
        let name = format!("caudal_bench_{name}");
        let mut db = self.options.connect().await.unwrap();
        db.execute(AssertSqlSafe(format!("drop database if exists {name}"))).await.unwrap();
        db.execute(AssertSqlSafe(format!("create database {name}"))).await.unwrap();
        Database { options: self.options.clone().database(&name), name }
    }

    /// Gives its place on the disk back.
    pub(crate) async fn drop(&self, database: Database) {
        let mut db = self.options.connect().await.unwrap();
        db.execute(AssertSqlSafe(format!("drop database {} with (force)", database.name))).await.unwrap();
    }
}

/// One database.
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) options: PgConnectOptions,
}

impl Database {
    /// As `DATABASE_URL` has it.
    pub(crate) fn url(&self) -> String {
        self.options.to_url_lossy().to_string()
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        self.options.connect().await.unwrap()
    }

    /// The tables, for a database that no host has opened yet.
    pub(crate) async fn migrate(&self) -> PgConnection {
        let mut db = self.connect().await;
        caudal::MIGRATOR.run(&mut db).await.unwrap();
        db
    }

    /// Deadlocks so far. Sessions tell of theirs when they end at the latest.
    pub(crate) async fn deadlocks(&self) -> i64 {
        let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
        sqlx::query_scalar(deadlocks).fetch_one(&mut self.connect().await).await.unwrap()
    }
}
