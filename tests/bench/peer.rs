//! The other side: pgbench on a database of its own, in the same server, with the same tables.

use std::process::Command;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::figures::Figures;
use crate::{ACCOUNTS, CLIENTS};

/// The other database.
const NAME: &str = "caudal_bench_peer";
/// Threads of pgbench: as many as the machine has processors.
const THREADS: usize = 2;

pub(crate) struct Peer {
    options: PgConnectOptions,
    server: u32,
}

impl Peer {
    pub(crate) async fn prepare(url: &str) -> Self {
        let options: PgConnectOptions = url.parse().unwrap();
        let mut db = options.connect().await.unwrap();
        db.execute(sqlx::AssertSqlSafe(format!("drop database if exists {NAME}"))).await.unwrap();
        db.execute(sqlx::AssertSqlSafe(format!("create database {NAME}"))).await.unwrap();
        let folder: String = sqlx::query_scalar("show data_directory").fetch_one(&mut db).await.unwrap();
        let pid = std::fs::read_to_string(format!("{folder}/postmaster.pid")).unwrap();
        let server = pid.lines().next().unwrap().parse().unwrap();
        let options = options.database(NAME);
        let mut db = options.connect().await.unwrap();
        caudal::MIGRATOR.run(&mut db).await.unwrap();
        let accounts = format!(
            "insert into account_balance (account_id, stripe, posted, floor, version)
             select ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, 0, 1000000000, 0, 0
                 from generate_series(1, {ACCOUNTS}) n
             union all
             select '00000000-0000-7000-8000-000000000002', n, 0, 0, 0 from generate_series(0, {CLIENTS} - 1) n"
        );
        db.execute(sqlx::AssertSqlSafe(accounts)).await.unwrap();
        db.execute("vacuum analyze").await.unwrap();
        db.close().await.unwrap();
        Self { options, server }
    }

    /// The server's first process.
    pub(crate) fn server(&self) -> u32 {
        self.server
    }

    /// What makes a commit durable, and how much memory the server has.
    pub(crate) async fn settings(&self) -> String {
        let mut db = self.options.connect().await.unwrap();
        let mut told = Vec::new();
        for name in ["fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size"] {
            let value: String =
                sqlx::query_scalar("select current_setting($1)").bind(name).fetch_one(&mut db).await.unwrap();
            told.push(format!("{name} {value}"));
        }
        told.join(", ")
    }

    pub(crate) async fn run(&self, time: Duration) -> Figures {
        let folder = format!("/tmp/caudal-bench-log.{}", std::process::id());
        std::fs::create_dir_all(&folder).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/bench/transfer.sql");
        let start = Instant::now();
        let output = Command::new("pgbench")
            .args(["--no-vacuum", "--protocol=prepared", "--log", "--log-prefix=turn", "--define"])
            .arg(format!("accounts={ACCOUNTS}"))
            .args(["--client", &CLIENTS.to_string(), "--jobs", &THREADS.to_string()])
            .args(["--time", &time.as_secs().to_string(), "--file", script])
            .args(["--host", self.options.get_socket().unwrap().to_str().unwrap()])
            .args(["--username", self.options.get_username(), NAME])
            .current_dir(&folder)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let mut took = Vec::new();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let log = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let microseconds = log.lines().filter_map(|line| line.split(' ').nth(2)?.parse().ok());
            took.extend(microseconds.map(Duration::from_micros));
        }
        std::fs::remove_dir_all(folder).unwrap();
        Figures { took, failed: 0, time: start.elapsed().min(time + time / 10) }
    }

    /// Nothing was made from nothing, on our side.
    pub(crate) async fn check(&self, url: &str) {
        let mut db = PgConnection::connect(url).await.unwrap();
        let sum: i64 = sqlx::query_scalar("select coalesce(sum(posted), 0)::bigint from account_balance")
            .fetch_one(&mut db)
            .await
            .unwrap();
        let (transfers, entries): (i64, i64) = sqlx::query_as(
            "select (select count(*) from transfer where kind = 'spei'), (select count(*) from entry where delta < 0
                and account_id not in (select account_id from account where kind = 'funding'))",
        )
        .fetch_one(&mut db)
        .await
        .unwrap();
        println!("{transfers} transfers, {entries} debits, sum of all balances {sum}");
        assert_eq!((sum, transfers), (0, entries));
    }
}
