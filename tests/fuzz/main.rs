//! Arbitrary input for everything that reads bytes of others: mutations of a small corpus, for a few seconds each.
//!
//! A case fails if it panics, and most targets assert more. `FUZZ_SECONDS=600 cargo test --test fuzz -- cursors` tries
//! one target for longer; `FUZZ_SEED` repeats a run. What fails is printed in hexadecimal: fix it, and add it to the
//! corpus.
#![expect(clippy::unwrap_used, reason = "a case that cannot continue should fail")]
#![expect(clippy::print_stdout, reason = "prints figures for the reader")]

mod bank;
mod components;
mod mutation;
mod rail;
#[path = "../random.rs"]
mod random;
mod requests;
mod tokens;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mutation::{Mutator, Words};

/// Time for each target.
const SECONDS: u64 = 5;

/// Inputs of a target that are mutated further: each was the first with its outcome.
const POOL_LENGTH_MAX: usize = 256;

/// What became of an input. The first input with a new outcome is worth mutating.
type Outcome = Cow<'static, str>;

/// Or longer, if there are several ways.
const ACCEPTED: Outcome = Cow::Borrowed("accepted");

/// A reader of bytes.
struct Target {
    /// And of its folder in the corpus.
    name: &'static str,
    /// Panics if something is wrong.
    run: fn(&[u8]) -> Outcome,
    words: Words,
    bytes_max: usize,
    /// More inputs to begin with.
    seeds: fn() -> Vec<Vec<u8>>,
}

static TARGETS: [Target; 9] = [
    bank::AMOUNTS,
    bank::CLABES,
    requests::CURSORS,
    requests::BODIES,
    tokens::TOKENS,
    rail::ANSWERS,
    rail::NOTICES,
    components::WEIGHTS,
    components::COMPONENTS,
];

/// What a target's run found.
struct Found {
    cases: u64,
    accepted: u64,
    outcomes: usize,
    seconds: f64,
    /// The input that failed.
    failure: Option<Vec<u8>>,
}

/// For errors without data.
fn refused(error: &dyn std::fmt::Debug) -> Outcome {
    format!("{error:?}").chars().take(80).collect::<String>().into()
}

fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus").join(target.name);
    let mut files: Vec<_> = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let lines = files.iter().map(|path| (path.extension().is_some_and(|it| it == "lines"), fs::read(path).unwrap()));
    // One input for each line, or a file.
    let mut inputs: Vec<_> = lines
        .flat_map(|(is_lines, bytes)| match is_lines {
            true => bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect(),
            false => vec![bytes],
        })
        .collect();
    inputs.extend((target.seeds)());
    assert!(!inputs.is_empty(), "{} has no corpus", target.name);
    inputs
}

fn try_for(target: &Target, time: Duration, seed: u64) -> Found {
    let begun = Instant::now();
    let mut pool = corpus(target);
    let mut outcomes: BTreeMap<Outcome, u64> = BTreeMap::new();
    let mut mutator = Mutator::new(seed, target.words, target.bytes_max);
    let mut cases = 0;
    let mut failure = None;
    // The corpus as it is comes first.
    let mut corpus = pool.clone().into_iter();
    loop {
        let input = match corpus.next() {
            Some(input) => input,
            None if begun.elapsed() >= time => break,
            None => mutator.mutate(&pool),
        };
        cases += 1;
        let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) else {
            failure = Some(input);
            break;
        };
        let seen = outcomes.entry(outcome).or_default();
        *seen += 1;
        if *seen == 1 && pool.len() < POOL_LENGTH_MAX {
            pool.push(input);
        }
    }
    let accepted = outcomes.iter().filter(|(outcome, _)| outcome.starts_with(&*ACCEPTED)).map(|(_, count)| count).sum();
    Found { cases, accepted, outcomes: outcomes.len(), seconds: begun.elapsed().as_secs_f64(), failure }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

fn main() -> ExitCode {
    let time = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(SECONDS));
    let seed = number("FUZZ_SEED").unwrap_or(1);
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut wanted: Vec<_> = TARGETS.iter().filter(|target| target.name.contains(&filter)).collect();
    wanted.reverse();
    let (total, queue, failed) = (wanted.len(), Mutex::new(wanted), Mutex::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = || queue.lock().unwrap().pop();
    let work = || {
        while let Some(target) = next() {
            let Found { cases, accepted, outcomes, seconds, failure } = try_for(target, time, seed);
            let rate = cases as f64 / seconds;
            println!("{}: {cases} cases, {rate:.0} a second, {accepted} accepted, {outcomes} outcomes", target.name);
            if let Some(input) = failure {
                let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
                println!("{} FAILED with seed {seed}: {:?}\n{hex}", target.name, String::from_utf8_lossy(&input));
                *failed.lock().unwrap() += 1;
            }
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failed = *failed.lock().unwrap();
    println!(
        "test result: {}. {} passed; {failed} failed; fuzzing",
        if failed == 0 { "ok" } else { "FAILED" },
        total - failed
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
