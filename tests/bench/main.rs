//! How many transfers a second, beside what the same Postgres does with one transaction for each.
//!
//! `make bench` runs it: 64 clients send single transfers over HTTP, each with a key of its own; then 64
//! clients of pgbench make the same transfers by hand-written SQL ([`transfer.sql`]), one transaction each, on
//! the same server. They take turns. Every commit of both is on disk before it is answered; the settings that
//! say so are printed. No speed is asserted; answers and the sum of all balances are.
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "figures are for whoever runs it")]

mod client;
mod figures;
mod peer;
mod processor;
mod service;

use std::time::Duration;

use figures::{Figures, median};
use processor::Used;
use service::Spread;

/// Clients of either side.
pub(crate) const CLIENTS: usize = 64;
/// Accounts that send; each has one payee.
pub(crate) const ACCOUNTS: usize = 1_000;
/// Turns of each side; the median counts.
const TURNS: usize = 3;

fn main() {
    // `cargo test` builds benchmarks and runs them with other arguments: then there is nothing to do.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let seconds = std::env::var("CAUDAL_BENCH_SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(10);
    let url = std::env::var("DATABASE_URL").expect("run `make bench`: it starts a Postgres");
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run(&url, seconds));
}

async fn run(url: &str, seconds: u64) {
    let time = Duration::from_secs(seconds);
    let peer = peer::Peer::prepare(url).await;
    let service = service::Service::start(url).await;
    println!("{CLIENTS} clients, {ACCOUNTS} accounts, {TURNS} turns of {seconds} s each; {}", peer.settings().await);
    println!();
    println!("{}", Figures::HEAD);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for spread in [Spread::Uniform, Spread::Zipf, Spread::Hot] {
        let mut rates = Vec::new();
        for _ in 0..TURNS {
            if spread == Spread::Uniform {
                let before = Used::now(service.pid(), peer.server());
                let figures = peer.run(time).await;
                theirs.push(figures.per_second());
                println!(
                    "{}",
                    figures.line("pgbench uniform", &Used::now(service.pid(), peer.server()).since(&before))
                );
            }
            let before = Used::now(service.pid(), peer.server());
            let figures = service.run(spread, time).await;
            rates.push(figures.per_second());
            let title = format!("caudal {spread}");
            println!("{}", figures.line(&title, &Used::now(service.pid(), peer.server()).since(&before)));
        }
        ours.push((spread, median(rates)));
    }
    println!();
    let (_, uniform) = ours[0];
    println!("caudal / pgbench, uniform: {:.2}", uniform / median(theirs));
    for (spread, rate) in &ours[1..] {
        println!("{spread} / uniform: {:.2}", rate / uniform);
    }
    peer.check(url).await;
}
