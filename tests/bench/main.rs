//! Benchmarks of the service against what its users would otherwise write: native calls of the models, hand-written
//! SQL.
//!
//! `make bench` runs all sections, `CAUDAL_BENCH=growth,memory` some of them. Speed is printed; responses, rows and
//! sums of balances are asserted. Commits of both sides are durable before they are acknowledged; the settings behind
//! that are printed.
//!
//! | section | |
//! |---|---|
//! | [`calls`] | scores without HTTP, and how long a version takes to load |
//! | [`scores`] | scores per second, compared with native calls |
//! | [`python`] | risk scores, compared with FastAPI |
//! | [`backtest`] | rows of a file, compared with pandas |
//! | [`runtimes`] | the same component in Node, Chromium and workerd |
//! | [`tokens`] | checks of access tokens |
//! | [`swaps`] | scores while models are swapped |
//! | [`start`] | how long a start takes, and memory |
//! | [`reads`] | accounts and transactions, compared with the same SQL in pgbench |
//! | [`transfers`] | transfers per second, compared with pgbench |
//! | [`latency`] | transfers at half the rate that pgbench can do, compared with pgbench |
//! | [`replication`] | the same with and without a synchronous standby, and the cost of a read |
//! | [`hosts`] | three hosts debiting one account |
//! | [`merchant`] | three hosts crediting one account, on us |
//! | [`limits`] | two hosts and a user with a limit for a day |
//! | [`snapshot`] | transfers while an old snapshot is open |
//! | [`turns`] | a payment beside 10,000 of other customers, and slow answers of the rail |
//! | [`growth`] | pages, risks and transfers in small and large databases |
//! | [`scale`] | scores and transfers beside many accounts, limits, connections and streams |
//! | [`streams`] | opening event streams beside a million transfers |
//! | [`memory`] | a host's memory over a million transfers |
//! | [`before`] | the same as an earlier build; only if it is named |
#![expect(clippy::print_stdout, reason = "says where the report is")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot continue should fail")]

mod backtest;
mod before;
mod calls;
mod client;
mod database;
mod figures;
mod fill;
mod growth;
mod host;
mod hosts;
mod latency;
mod limits;
mod load;
mod memory;
mod merchant;
mod peer;
mod processor;
mod python;
mod reads;
mod replication;
mod report;
mod runtimes;
mod scale;
mod scores;
mod senders;
mod snapshot;
mod start;
mod streams;
#[path = "../rail/stub.rs"]
#[expect(dead_code, reason = "the tests of the rail use the rest")]
mod stub;
mod swaps;
mod tokens;
mod transfers;
mod turns;

use std::fmt::Debug;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use database::Server;

/// The service's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Clients of each side.
pub(crate) const CLIENTS: usize = 64;
/// Sending accounts, each with one payee.
pub(crate) const ACCOUNTS: usize = 1_000;

const SECTIONS: [&str; 21] = [
    "calls",
    "scores",
    "python",
    "backtest",
    "runtimes",
    "tokens",
    "swaps",
    "start",
    "reads",
    "transfers",
    "latency",
    "replication",
    "hosts",
    "merchant",
    "limits",
    "snapshot",
    "turns",
    "growth",
    "scale",
    "streams",
    "memory",
];

/// Smaller values suit a trial run, but give no meaningful figures.
pub(crate) struct Settings {
    sections: Vec<String>,
    /// Duration of one turn.
    pub(crate) time: Duration,
    /// In the large database.
    pub(crate) growth_transfers: i64,
    /// During the memory measurement.
    pub(crate) memory_transfers: usize,
}

impl Settings {
    fn read() -> Self {
        let sections: String = variable("CAUDAL_BENCH", SECTIONS.join(","));
        let sections: Vec<String> = sections.split(',').map(|it| it.trim().to_owned()).collect();
        let unknown = sections.iter().find(|it| *it != "before" && !SECTIONS.contains(&it.as_str()));
        assert_eq!(unknown, None, "CAUDAL_BENCH names sections: {}, before", SECTIONS.join(","));
        Self {
            sections,
            time: Duration::from_secs(variable("CAUDAL_BENCH_SECONDS", 10)),
            growth_transfers: variable("CAUDAL_BENCH_GROWTH_TRANSFERS", 3_000_000),
            memory_transfers: variable("CAUDAL_BENCH_MEMORY_TRANSFERS", 1_000_000),
        }
    }
}

fn variable<T: FromStr<Err: Debug>>(name: &str, default: T) -> T {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn main() {
    assert_eq!(std::env::args().len(), 2, "run `make bench`: it names the service's binary");
    let settings = Settings::read();
    let url = std::env::var("DATABASE_URL").expect("run `make bench`: it starts a Postgres");
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run(&url, &settings));
}

async fn run(url: &str, settings: &Settings) {
    let server = Server::new(url).await;
    let build = if cfg!(debug_assertions) { "debug: its figures mean nothing" } else { "release" };
    report::fact("date", report::first_line("date", &["--utc", "--iso-8601=minutes"]));
    report::fact("command", std::env::var("CAUDAL_BENCH_COMMAND").unwrap_or_else(|_| "make bench".to_owned()));
    report::fact("revision", report::first_line("git", &["describe", "--always", "--dirty"]));
    report::fact("build", format!("{build}, {}", report::first_line("rustc", &["--version"])));
    report::fact("machine", machine());
    report::fact("load", report::first_line("wrk", &["--version"]));
    report::fact("Postgres", server.settings().await);
    for section in &settings.sections {
        report::section(section);
        match section.as_str() {
            "calls" => calls::run(),
            "scores" => scores::run(&server, settings).await,
            "python" => python::run(&server, settings).await,
            "backtest" => backtest::run(),
            "runtimes" => runtimes::run(),
            "tokens" => tokens::run().await,
            "swaps" => swaps::run(&server, settings).await,
            "start" => start::run(&server).await,
            "reads" => reads::run(&server, settings).await,
            "transfers" => transfers::run(&server, settings).await,
            "latency" => latency::run(&server, settings).await,
            "replication" => replication::run(&server, settings).await,
            "hosts" => hosts::run(&server, settings).await,
            "merchant" => merchant::run(&server, settings).await,
            "limits" => limits::run(&server, settings).await,
            "snapshot" => snapshot::run(&server, settings).await,
            "turns" => turns::run(&server).await,
            "growth" => growth::run(&server, settings).await,
            "scale" => scale::run(&server).await,
            "streams" => streams::run(&server, settings).await,
            "before" => before::run(&server, settings).await,
            _ => memory::run(&server, settings).await,
        }
    }
    let folder = std::env::var("CAUDAL_BENCH_REPORT").unwrap_or_else(|_| "target/bench".to_owned());
    report::write(Path::new(&folder));
    println!("\nwritten: {folder}/report.md");
}

/// Its processors and their name.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let kernel = report::first_line("uname", &["-sr"]);
    format!(
        "{} x {}, {kernel}",
        std::thread::available_parallelism().unwrap(),
        name.trim_start_matches([' ', '\t', ':'])
    )
}
