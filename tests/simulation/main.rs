//! Deterministic simulation of the real ledger: its batchers, the rules component and the simulated rail, with a model
//! of Postgres behind an unreliable connection. A seed decides everything. Time is simulated too, so a run takes
//! milliseconds.
//!
//! `cargo test --test simulation` runs ten thousand seeds, then plants bugs and checks that they are detected.
//! `-- --seeds N --from S` runs other seeds; `-- --seed S` repeats one and prints what happened.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]
#![expect(clippy::print_stdout, reason = "prints figures for the reader")]

mod chance;
mod checks;
mod clients;
mod faulty;
#[path = "../fixtures.rs"]
mod fixtures;
mod forks;
mod hot;
mod leases;
mod locks;
mod naive;
mod operators;
mod rail;
#[path = "../random.rs"]
mod random;
mod rerun;
mod tables;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use caudal::domain::model::ModelKind;
use caudal::domain::transfer::{Kind, Status};
use caudal::models::{LoadedComponent, Models, Registry, Runtime};
use faulty::Mutation;
use world::{RunResult, run};

const SEEDS: u64 = 10_000;

/// Every mutation must be detected within this many seeds.
const SEEDS_TO_DETECT: u64 = 6_000;

/// Tried one at a time.
const MUTATIONS: [Mutation; 12] = [
    Mutation::Constraints(&["batch_race_users"]),
    Mutation::Constraints(&["idempotency_pkey"]),
    // Dropped together, because each also detects what the other does.
    Mutation::Constraints(&["batch_race_balances", "entry_pkey"]),
    Mutation::Constraints(&["batch_race_moves", "transfer_event_pkey"]),
    Mutation::Constraints(&["race_moment", "batch_explained"]),
    Mutation::Constraints(&["account_issued"]),
    Mutation::NoEnds,
    Mutation::TypedNumbers,
    Mutation::NoReplay,
    Mutation::NoSettling,
    Mutation::NoTombstone,
    Mutation::NoRetry,
];

/// Seeds of the run in which everybody pays the same accounts.
const HOT_SEEDS: u64 = 300;

/// In one run out of this many, a person decides on each transfer.
const REVIEWED_EVERY: u64 = 5;

/// Seeds of each kind of forks.
const FORK_SEEDS: u64 = 300;

/// A check of forks: how much it checked, or what is wrong.
type ForkCheck = fn(&RunResult, &chance::Chance) -> Result<usize, String>;

const FORKS: [(&str, ForkCheck); 3] = [
    ("a change that was planted is found where it is", forks::plant),
    ("the rules that decided change nothing as a candidate", forks::fork_alike),
    ("another rule leaves the balances of a naive calculation", forks::fork_otherwise),
];

const HOT_MUTATIONS: [Mutation; 3] = [Mutation::NoLocks, Mutation::UnorderedLocks, Mutation::UsersFirst];

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
    let tests = MUTATIONS.len() + HOT_MUTATIONS.len() + FORKS.len() + 2;
    println!("\nrunning {tests} tests");
    let start = Instant::now();
    let tally = Tally::default();
    let found = search(from, seeds, None, &tally);
    println!(
        "{seeds} seeds: {} commits, {} transfers, {} rejected, {} returned, {} refused by a person, {} orders without an \
         answer, in {:.1} s",
        tally.batches.load(Relaxed),
        tally.transfers.load(Relaxed),
        tally.failed.load(Relaxed),
        tally.returned.load(Relaxed),
        tally.refused.load(Relaxed),
        tally.unanswered.load(Relaxed),
        start.elapsed().as_secs_f64(),
    );
    let mut failed = usize::from(tally.refused.load(Relaxed) == 0);
    if let Some((seed, complaints)) = found {
        failed += 1;
        println!("seed {seed} FAILED; repeat it with -- --seed {seed}\n{}", complaints.join("\n"));
    }
    for mutation in MUTATIONS {
        match search(from, SEEDS_TO_DETECT, Some(mutation), &Tally::default()) {
            Some((seed, complaints)) => println!("{mutation:?}: detected by seed {seed}: {}", complaints[0]),
            None => {
                failed += 1;
                println!("{mutation:?}: FAILED, not detected in {SEEDS_TO_DETECT} seeds");
            }
        }
    }
    failed += check_hot_accounts(from);
    failed += FORKS.into_iter().filter(|(name, check)| !check_forks(name, *check, from)).count();
    let passed = tests - failed;
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many of these tests failed.
fn check_hot_accounts(from: u64) -> usize {
    let (mut failed, mut slowest) = (0, Duration::ZERO);
    for seed in from..from + HOT_SEEDS {
        let hot = run_hot(seed, None);
        slowest = slowest.max(hot.slowest);
        if let Some(complaint) = hot.complaints.first() {
            println!("hot accounts, seed {seed}: FAILED: {complaint}");
            failed = 1;
            break;
        }
    }
    println!("{HOT_SEEDS} seeds of hot accounts: the slowest transfer took {slowest:?} of simulated time");
    for mutation in HOT_MUTATIONS {
        let found =
            (from..from + HOT_SEEDS).find_map(|seed| Some((seed, run_hot(seed, Some(mutation)).complaints.pop()?)));
        match found {
            Some((seed, complaint)) => println!("{mutation:?}: detected by seed {seed}: {complaint}"),
            None => {
                failed += 1;
                println!("{mutation:?}: FAILED, not detected in {HOT_SEEDS} seeds");
            }
        }
    }
    failed
}

fn check_forks(name: &str, check: ForkCheck, from: u64) -> bool {
    let mut checked = 0;
    for seed in from..from + FORK_SEEDS {
        match check(&simulate(seed, None), &chance::Chance::new(seed)) {
            Ok(more) => checked += more,
            Err(complaint) => {
                println!("{name}: FAILED for seed {seed}: {complaint}");
                return false;
            }
        }
    }
    println!("{FORK_SEEDS} seeds: {name}, {checked} times");
    checked as u64 >= FORK_SEEDS / 2
}

fn run_hot(seed: u64, mutation: Option<Mutation>) -> hot::Hot {
    simulated_time().block_on(hot::run(seed, models(), mutation))
}

/// Totals over all runs.
#[derive(Default)]
struct Tally {
    batches: AtomicUsize,
    transfers: AtomicUsize,
    failed: AtomicUsize,
    returned: AtomicUsize,
    refused: AtomicUsize,
    unanswered: AtomicUsize,
}

impl Tally {
    fn add(&self, result: &RunResult) {
        let tables = result.model.tables();
        let count = |is: fn(&tables::StoredTransfer) -> bool| tables.transfers.values().filter(|it| is(it)).count();
        self.batches.fetch_add(tables.batches.len(), Relaxed);
        self.transfers.fetch_add(count(|stored| stored.new.kind == Kind::Spei), Relaxed);
        self.failed.fetch_add(count(|stored| stored.status() == Status::Failed), Relaxed);
        self.returned.fetch_add(count(|stored| stored.new.kind == Kind::Return), Relaxed);
        self.refused.fetch_add(count(|stored| stored.statuses.last() == Some(&(Status::Failed, true))), Relaxed);
        let unanswered = result.attempts.iter().filter(|attempts| attempts.answers.iter().all(Result::is_err));
        self.unanswered.fetch_add(unanswered.count(), Relaxed);
    }
}

/// A seed that fails, and why.
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
        let result = simulate(seed, mutation);
        tally.add(&result);
        checks::complaints(&result)
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        vec![format!("it panicked: {}", text.unwrap_or_default())]
    })
}

fn simulate(seed: u64, mutation: Option<Mutation>) -> RunResult {
    let models = if seed.is_multiple_of(REVIEWED_EVERY) { reviewing() } else { models() };
    simulated_time().block_on(run(seed, models, mutation))
}

fn models() -> Models {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    Models::new(REGISTRY.get_or_init(embedded).clone())
}

/// With rules that want a person to decide on each transfer.
fn reviewing() -> Models {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let load = || {
        let bytes = fixtures::misbehaving("hostile-rules-2.wasm", "reviews");
        embedded().with(LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::TransferRules, &bytes).unwrap())
    };
    Models::new(REGISTRY.get_or_init(load).clone())
}

fn embedded() -> Registry {
    Registry::embedded(&Runtime::new().unwrap()).unwrap()
}

fn simulated_time() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// Prints all attempts of one seed; runs it twice, to check that it is deterministic.
fn replay(seed: u64) -> ExitCode {
    let result = simulate(seed, None);
    let attempts = format!("{:#?}", result.attempts);
    println!("{attempts}");
    let complaints = checks::complaints(&result);
    println!("{} batches; {complaints:#?}", result.model.tables().batches.len());
    if format!("{:#?}", simulate(seed, None).attempts) != attempts {
        println!("a second run of this seed went differently");
        return ExitCode::FAILURE;
    }
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
