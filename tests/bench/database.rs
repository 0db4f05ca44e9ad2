//! One Postgres server, and a database for each measurement.

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

/// Settings that determine durability, memory and checkpoints.
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

/// A running Postgres.
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

    pub(crate) async fn connect(&self) -> PgConnection {
        self.options.connect().await.unwrap()
    }

    /// For programs of Postgres.
    pub(crate) fn conninfo(&self) -> String {
        let (options, socket) = (&self.options, self.options.get_socket().unwrap().display());
        format!("host={socket} port={} user={}", options.get_port(), options.get_username())
    }

    /// The postmaster's.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) async fn settings(&self) -> String {
        let mut db = self.options.connect().await.unwrap();
        let mut settings = Vec::new();
        for name in SETTINGS {
            let value: String =
                sqlx::query_scalar("select current_setting($1)").bind(name).fetch_one(&mut db).await.unwrap();
            settings.push(format!("{name} {value}"));
        }
        settings.join(", ")
    }

    /// A new database; an old one of this name is dropped.
    pub(crate) async fn database(&self, name: &str) -> Database {
        let name = format!("caudal_bench_{name}");
        let mut db = self.options.connect().await.unwrap();
        db.execute(AssertSqlSafe(format!("drop database if exists {name}"))).await.unwrap();
        db.execute(AssertSqlSafe(format!("create database {name}"))).await.unwrap();
        Database { options: self.options.clone().database(&name), name }
    }

    /// Frees the disk space.
    pub(crate) async fn drop(&self, database: Database) {
        let mut db = self.options.connect().await.unwrap();
        db.execute(AssertSqlSafe(format!("drop database {} with (force)", database.name))).await.unwrap();
    }
}

pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) options: PgConnectOptions,
}

impl Database {
    /// For `DATABASE_URL`.
    pub(crate) fn url(&self) -> String {
        self.options.to_url_lossy().to_string()
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        self.options.connect().await.unwrap()
    }

    /// Creates the tables, if no host has opened the database yet.
    pub(crate) async fn migrate(&self) -> PgConnection {
        let mut db = self.connect().await;
        caudal::MIGRATOR.run(&mut db).await.unwrap();
        db
    }

    /// Deadlocks so far. Sessions report theirs when they end, at the latest.
    pub(crate) async fn deadlocks(&self) -> i64 {
        let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
        sqlx::query_scalar(deadlocks).fetch_one(&mut self.connect().await).await.unwrap()
    }
}
