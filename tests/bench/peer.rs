//! The other side: pgbench on its own database, with the same tables, on the same server.

use std::process::{Command, Output};
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::database::{Database, Server};
use crate::figures::Figures;
use crate::{ACCOUNTS, CLIENTS};

/// Threads of pgbench, one for each processor.
const THREADS: usize = 2;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/transfer.sql");

pub(crate) struct Peer {
    pub(crate) database: Database,
    made: usize,
}

impl Peer {
    pub(crate) async fn prepare(server: &Server) -> Self {
        let database = server.database("peer").await;
        let mut db = database.migrate().await;
        let accounts = format!(
            "insert into account_balance (account_id, stripe, posted, floor, version)
             select ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, 0, 1000000000, 0, 0
                 from generate_series(1, {ACCOUNTS}) n
             union all
             select '00000000-0000-7000-8000-000000000002', n, 0, -9223372036854775807, 0
                 from generate_series(0, {CLIENTS} - 1) n"
        );
        db.execute(AssertSqlSafe(accounts)).await.unwrap();
        db.execute("vacuum analyze").await.unwrap();
        db.close().await.unwrap();
        Self { database, made: 0 }
    }

    fn command(&self, time: Duration, rate: Option<f64>) -> Command {
        let mut command = Command::new("pgbench");
        command
            .args(["--no-vacuum", "--protocol=prepared", "--log", "--log-prefix=turn", "--define"])
            .arg(format!("accounts={ACCOUNTS}"))
            .args(["--client", &CLIENTS.to_string(), "--jobs", &THREADS.to_string()])
            .args(["--time", &time.as_secs().to_string(), "--file", SCRIPT])
            .args(["--host", self.database.options.get_socket().unwrap().to_str().unwrap()])
            .args(["--port", &self.database.options.get_port().to_string()])
            .args(["--username", self.database.options.get_username(), &self.database.name]);
        if let Some(rate) = rate {
            command.arg(format!("--rate={rate:.0}"));
        }
        command
    }

    /// For display, relative to the repository.
    pub(crate) fn command_line(&self, time: Duration) -> String {
        Self::display(&self.command(time, None))
    }

    pub(crate) fn command_line_at(&self, time: Duration, rate: f64) -> String {
        Self::display(&self.command(time, Some(rate)))
    }

    fn display(command: &Command) -> String {
        let arguments = command.get_args().map(|it| it.to_str().unwrap());
        let short = arguments.map(|it| if it == SCRIPT { "tests/bench/transfer.sql" } else { it });
        format!("pgbench {}", short.collect::<Vec<_>>().join(" "))
    }

    pub(crate) async fn run(&mut self, time: Duration) -> Figures {
        self.run_with(time, None)
    }

    /// At random moments, so many a second; times count from when a transaction was due.
    pub(crate) async fn run_at(&mut self, time: Duration, rate: f64) -> Figures {
        self.run_with(time, Some(rate))
    }

    fn run_with(&mut self, time: Duration, rate: Option<f64>) -> Figures {
        let folder = format!("/tmp/caudal-bench-log.{}", std::process::id());
        std::fs::create_dir_all(&folder).unwrap();
        let output = self.command(time, rate).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut figures = Figures { took: Vec::new(), failed: 0, time: Duration::ZERO };
        for entry in std::fs::read_dir(&folder).unwrap() {
            let log = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for line in log.lines() {
                // Microseconds, or `failed`.
                match line.split(' ').nth(2).and_then(|it| it.parse().ok()) {
                    Some(time) => figures.took.push(Duration::from_micros(time)),
                    None => figures.failed += 1,
                }
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
        // By pgbench's own rate, which excludes connecting.
        figures.time = Duration::from_secs_f64(figures.took.len() as f64 / per_second(&output));
        self.made += figures.took.len();
        figures
    }

    /// Every reported transfer exists, and money is conserved.
    pub(crate) async fn check(&self) {
        let found: (i64, i64, i64) = sqlx::query_as(
            "select (select count(*) from transfer), (select count(*) from idempotency),
                (select sum(posted)::bigint from account_balance)",
        )
        .fetch_one(&mut self.database.connect().await)
        .await
        .unwrap();
        let made = i64::try_from(self.made).unwrap();
        assert_eq!(found, (made, made, i64::try_from(ACCOUNTS).unwrap() * 1_000_000_000));
    }
}

fn per_second(output: &Output) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("tps = "));
    line.unwrap_or_else(|| panic!("{text}")).split(' ').next().unwrap().parse().unwrap()
}
