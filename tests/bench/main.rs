//! Benchmarks of the service against hand-written SQL on the same Postgres.
//!
//! `make bench` runs all sections, `CAUDAL_BENCH=pages,memory` some of them. Speed is printed; responses, rows and sums
//! of balances are asserted. Commits of both sides are durable before they are acknowledged; the settings behind that
//! are printed.
//!
//! | section | |
//! |---|---|
//! | [`transfers`] | transfers per second, compared with pgbench |
//! | [`replication`] | the same with and without a synchronous standby, and the cost of a read |
//! | [`hosts`] | three hosts debiting one account |
//! | [`merchant`] | three hosts crediting one account, on us |
//! | [`pages`] | lists and statements of small and large databases |
//! | [`memory`] | a host's memory over a million transfers |
#![expect(clippy::unwrap_used, reason = "a measurement that cannot continue should fail")]
#![expect(clippy::print_stdout, reason = "prints figures for the reader")]

mod client;
mod database;
mod figures;
mod fill;
mod host;
mod hosts;
mod memory;
mod merchant;
mod pages;
mod peer;
mod processor;
mod replication;
mod senders;
mod transfers;

use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

use database::Server;

/// Clients of each side.
pub(crate) const CLIENTS: usize = 64;
/// Sending accounts, each with one payee.
pub(crate) const ACCOUNTS: usize = 1_000;

const SECTIONS: [&str; 6] = ["transfers", "replication", "hosts", "merchant", "pages", "memory"];

/// Smaller values suit a trial run, but give no meaningful figures.
pub(crate) struct Settings {
    sections: Vec<String>,
    /// Duration of one turn.
    pub(crate) time: Duration,
    /// In the large database of the pages.
    pub(crate) page_transfers: i64,
    /// During the memory measurement.
    pub(crate) memory_transfers: usize,
}

impl Settings {
    fn read() -> Self {
        let sections: String = variable("CAUDAL_BENCH", SECTIONS.join(","));
        let sections: Vec<String> = sections.split(',').map(|it| it.trim().to_owned()).collect();
        let unknown = sections.iter().find(|it| !SECTIONS.contains(&it.as_str()));
        assert_eq!(unknown, None, "CAUDAL_BENCH names sections: {}", SECTIONS.join(","));
        Self {
            sections,
            time: Duration::from_secs(variable("CAUDAL_BENCH_SECONDS", 10)),
            page_transfers: variable("CAUDAL_BENCH_PAGE_TRANSFERS", 3_000_000),
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
    println!("{} processors; build {build}", std::thread::available_parallelism().unwrap());
    println!("Postgres: {}", server.settings().await);
    for section in &settings.sections {
        println!("\n== {section}");
        match section.as_str() {
            "transfers" => transfers::run(&server, settings).await,
            "replication" => replication::run(&server, settings).await,
            "hosts" => hosts::run(&server, settings).await,
            "merchant" => merchant::run(&server, settings).await,
            "pages" => pages::run(&server, settings).await,
            _ => memory::run(&server, settings).await,
        }
    }
}
