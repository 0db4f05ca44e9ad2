//! What verifying a long history takes: time, and memory of the program and of Postgres.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use caudal::ledger::chain::ChainKey;
use sqlx::postgres::PgPoolOptions;

use crate::history::{Author, write};
use crate::is_long;
use crate::process::{DataDir, text};

/// Of the ledger that this test writes.
const KEY: &str = "a key of thirty-two bytes at least";

/// Writers, each with a chain of its own.
const AUTHORS: u16 = 2;

/// Accounts per writer.
const ACCOUNTS: u64 = 10_000;

/// What is written after the first verification, and verified alone.
const RECENT: usize = 20_000;

/// Transfers of the history: `CAUDAL_SOAK_TRANSFERS`, or few.
fn transfers() -> usize {
    let chosen = std::env::var("CAUDAL_SOAK_TRANSFERS").ok().and_then(|it| it.parse().ok());
    chosen.unwrap_or(if is_long() { 1_000_000 } else { 20_000 })
}

/// A private Postgres that runs until its input ends.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(data: &DataDir) -> Self {
        let print = ["postgres", "--", "sh", "-c", "echo $DATABASE_URL; read _ || true"];
        let mut child = data.command(&print).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn stop(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// Runs `verify` with these arguments; prints how long it took and its most resident memory.
fn verify(data: &DataDir, url: &str, arguments: &[&str]) -> String {
    let command = [&["verify"], arguments].concat();
    let start = Instant::now();
    let mut command = data.command(&command);
    let child = command.env("CAUDAL_LEDGER_KEY", KEY).env("DATABASE_URL", url).stdout(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let peak = std::thread::spawn(move || {
        let mut peak = String::new();
        while let Ok(status) = std::fs::read_to_string(&status) {
            let Some(line) = status.lines().find(|line| line.starts_with("VmHWM:")) else { break };
            line["VmHWM:".len()..].trim().clone_into(&mut peak);
            std::thread::sleep(Duration::from_millis(20));
        }
        peak
    });
    let output = child.wait_with_output().unwrap();
    let took = start.elapsed();
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}");
    println!("verify {arguments:?}: {:.1} s, at most {} resident", took.as_secs_f64(), peak.join().unwrap());
    printed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_history_is_verified() {
    let data = DataDir::new();
    let server = Server::start(&data);
    let pool = PgPoolOptions::new().max_connections(u32::from(AUTHORS) + 1).connect(&server.url).await.unwrap();
    caudal::MIGRATOR.run(&pool).await.unwrap();
    let key = ChainKey::new(KEY.as_bytes()).unwrap();
    let start = Instant::now();
    let mut authors = Vec::new();
    for number in 1..=AUTHORS {
        authors.push(Author::new(pool.clone(), &key, number, ACCOUNTS).await);
    }
    let written = write(&mut authors, transfers()).await;
    println!("{written} transfers written in {:.1} s", start.elapsed().as_secs_f64());
    sqlx::raw_sql("vacuum analyze").execute(&pool).await.unwrap();
    let disk: String = sqlx::query_scalar("select pg_size_pretty(pg_database_size(current_database()))")
        .fetch_one(&pool)
        .await
        .unwrap();
    println!("{disk} on disk");
    let printed = verify(&data, &server.url, &[]);
    assert!(printed.ends_with("the ledger is sound"), "{printed}");
    let recent = write(&mut authors, RECENT).await;
    let printed = verify(&data, &server.url, &["--since", "last"]);
    assert!(printed.contains(&format!("transfers {recent},")), "{printed}");
    drop(authors);
    pool.close().await;
    server.stop();
}
