//! How fast, how many, how much: figures of the service beside the same Postgres used by hand.
//!
//! `make bench` runs all sections, `CAUDAL_BENCH=pages,memory` some of them. No speed is asserted; answers, rows and
//! the sums of balances are. Every commit of either side is on disk before it is answered; the settings that say so
//! are printed.
//!
//! | section | |
//! |---|---|
//! | [`transfers`] | transfers a second, beside pgbench |
//! | [`hosts`] | three hosts that debit one account |
//! | [`pages`] | lists and statements, short and long |
//! | [`memory`] | of a host over a million transfers |
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "figures are for whoever runs it")]

mod client;
mod database;
mod figures;
mod fill;
mod host;
mod hosts;
mod memory;
mod pages;
mod peer;
mod processor;
mod senders;
mod transfers;

use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

use database::Server;

/// Clients of either side.
pub(crate) const CLIENTS: usize = 64;
/// Accounts that send; each has one payee.
pub(crate) const ACCOUNTS: usize = 1_000;

/// All of them, in their order.
const SECTIONS: [&str; 4] = ["transfers", "hosts", "pages", "memory"];

/// How long and how large: less makes a try, not a figure.
pub(crate) struct Settings {
    sections: Vec<String>,
    /// Of one turn.
    pub(crate) time: Duration,
    /// In the large database of the pages.
    pub(crate) page_transfers: i64,
    /// While memory is looked at.
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

fn variable<T: FromStr<Err: Debug>>(name: &str, otherwise: T) -> T {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

fn main() {
    assert_eq!(std::env::args().len(), 2, "run `make bench`: it names the service's binary");
    let settings = Settings::read();
    let url = std::env::var("DATABASE_URL").expect("run `make bench`: it starts a Postgres");
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run(&url, &settings));
}

async fn run(url: &str, settings: &Settings) {
    let server = Server::new(url).await;
    let build = if cfg!(debug_assertions) { "debug: figures of this build mean nothing" } else { "release" };
    println!("{} processors; build {build}", std::thread::available_parallelism().unwrap());
    println!("Postgres: {}", server.settings().await);
    for section in &settings.sections {
        println!("\n== {section}");
        match section.as_str() {
            "transfers" => transfers::run(&server, settings).await,
            "hosts" => hosts::run(&server, settings).await,
            "pages" => pages::run(&server, settings).await,
            _ => memory::run(&server, settings).await,
        }
    }
}
