//! The real ledger in a world that a seed decides: its batchers and rules, the simulated rail, and in place of
//! Postgres a model of it behind a bad line. Time is simulated too, so that a run takes milliseconds, and a seed
//! always gives the same run.
//!
//! `cargo test --test simulation` runs ten thousand seeds and shows that broken rules are noticed;
//! `-- --seeds N` runs as many, from `--from S` on; `-- --seed S` runs one again and tells what it did.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "figures are for whoever runs it")]

mod chance;
mod checks;
mod clients;
mod faulty;
mod leases;
mod rail;
mod tables;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use caudal::domain::transfer::{Kind, Status};
use caudal::models::{Models, Registry, Runtime};
use faulty::Mutation;
use world::{Remains, run};

/// Seeds of a run of the tests.
const SEEDS: u64 = 10_000;

/// A broken rule has to be noticed within so many seeds.
const SEEDS_TO_NOTICE: u64 = 1_500;

/// Rules that are broken one at a time.
const MUTATIONS: [Mutation; 8] = [
    Mutation::Constraints(&["batch_race_users"]),
    Mutation::Constraints(&["idempotency_pkey"]),
    // Either of the two notices what the other would.
    Mutation::Constraints(&["batch_race_balances", "entry_pkey"]),
    Mutation::Constraints(&["batch_race_moves", "transfer_event_pkey"]),
    Mutation::NoReplay,
    Mutation::NoSettling,
    Mutation::NoTombstone,
    Mutation::NoRetry,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(seed) = value("--seed") {
        return replay(seed);
    }
    let (from, seeds) = (value("--from").unwrap_or(0), value("--seeds").unwrap_or(SEEDS));
    println!("\nrunning {} tests", MUTATIONS.len() + 1);
    let start = Instant::now();
    let tally = Tally::default();
    let found = search(from, seeds, None, &tally);
    println!(
        "{seeds} seeds: {} commits, {} transfers, {} refused by their rail, {} came back, {} orders without an answer, in {:.1} s",
        tally.batches.load(Relaxed),
        tally.transfers.load(Relaxed),
        tally.failed.load(Relaxed),
        tally.returned.load(Relaxed),
        tally.unanswered.load(Relaxed),
        start.elapsed().as_secs_f64(),
    );
    let mut failed = 0;
    if let Some((seed, complaints)) = found {
        failed += 1;
        println!("seed {seed} FAILED; run it again with -- --seed {seed}\n{}", complaints.join("\n"));
    }
    for mutation in MUTATIONS {
        match search(from, SEEDS_TO_NOTICE, Some(mutation), &Tally::default()) {
            Some((seed, complaints)) => println!("without {mutation:?}: seed {seed} tells, {}", complaints[0]),
            None => {
                failed += 1;
                println!("without {mutation:?}: FAILED, nobody noticed in {SEEDS_TO_NOTICE} seeds");
            }
        }
    }
    let passed = MUTATIONS.len() + 1 - failed;
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What happened in all runs together.
#[derive(Default)]
struct Tally {
    batches: AtomicUsize,
    transfers: AtomicUsize,
    failed: AtomicUsize,
    returned: AtomicUsize,
    unanswered: AtomicUsize,
}

impl Tally {
    fn add(&self, remains: &Remains) {
        let tables = remains.model.tables();
        let count = |is: fn(&tables::Kept) -> bool| tables.transfers.values().filter(|kept| is(kept)).count();
        self.batches.fetch_add(tables.batches.len(), Relaxed);
        self.transfers.fetch_add(count(|kept| kept.new.kind == Kind::Spei), Relaxed);
        self.failed.fetch_add(count(|kept| kept.status() == Status::Failed), Relaxed);
        self.returned.fetch_add(count(|kept| kept.new.kind == Kind::Return), Relaxed);
        let unanswered = remains.told.iter().filter(|told| told.answers.iter().all(Result::is_err));
        self.unanswered.fetch_add(unanswered.count(), Relaxed);
    }
}

/// The first seed that fails, and why.
fn search(from: u64, seeds: u64, mutation: Option<Mutation>, tally: &Tally) -> Option<(u64, Vec<String>)> {
    let (next, found) = (AtomicU64::new(from), Mutex::new(None));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= from + seeds || found.lock().unwrap().is_some() {
                        return;
                    }
                    let complaints = try_seed(seed, mutation, tally);
                    if !complaints.is_empty() {
                        found.lock().unwrap().get_or_insert((seed, complaints));
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

fn try_seed(seed: u64, mutation: Option<Mutation>, tally: &Tally) -> Vec<String> {
    let run = || {
        let remains = simulate(seed, mutation);
        tally.add(&remains);
        checks::complaints(&remains)
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        vec![format!("it panicked: {}", text.unwrap_or_default())]
    })
}

fn simulate(seed: u64, mutation: Option<Mutation>) -> Remains {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let load = || Registry::embedded(&Runtime::new().unwrap()).unwrap();
    let models = Models::new(REGISTRY.get_or_init(load).clone());
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(run(seed, models, mutation))
}

/// One seed again, with everything that was told; twice, to see that it is the same run.
fn replay(seed: u64) -> ExitCode {
    let remains = simulate(seed, None);
    let told = format!("{:#?}", remains.told);
    println!("{told}");
    let complaints = checks::complaints(&remains);
    println!("{} batches; {complaints:#?}", remains.model.tables().batches.len());
    if format!("{:#?}", simulate(seed, None).told) != told {
        println!("a second run of this seed went otherwise");
        return ExitCode::FAILURE;
    }
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
