//! Scores without HTTP: the component, and the same model called natively in this process.

use std::hint::black_box;
use std::time::Instant;

use caudal::domain::model::ModelKind;
use caudal::domain::risk::Request;
use caudal::models::{Embedded, LoadedComponent, Registry};
use caudal::scoring::Risk;
use caudal::wasm::{Cache, Runtime};

use crate::figures::median;
use crate::processor::resident;
use crate::report::{self, Target, say};

/// Turns of each side; the median counts.
const TURNS: usize = 9;
/// Calls of one turn.
const CALLS: usize = 20_000;
/// Requests of one batch.
const BATCH: usize = 1_000;

/// Loaded at once when memory is measured.
const VERSIONS: u8 = 20;

const WEIGHTS: caudal_model::risk::Weights<'static> =
    caudal_model::risk::Weights::built_in(include_bytes!("../../components/risk/models/risk-2/weights.bin"));

/// Nanoseconds of one call, over a turn of `calls`.
fn time_of(calls: usize, mut call: impl FnMut()) -> f64 {
    let begun = Instant::now();
    (0..calls).for_each(|_| call());
    begun.elapsed().as_nanos() as f64 / calls as f64
}

pub(crate) fn run() {
    let runtime = Runtime::new().unwrap();
    let registry = Registry::embedded(&runtime).unwrap();
    let scorer = &registry.route::<Risk>().unwrap().champion.scorer;
    let (native_request, request) = requests();
    let batch = vec![request.clone(); BATCH];
    say!("{TURNS} turns of {CALLS} calls, or of {} batches of {BATCH}; {}", CALLS / BATCH, scorer.identity().version);
    let (mut native, mut fresh, mut batched) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        native
            .push(time_of(CALLS, || drop(black_box(caudal_model::risk::assess(&WEIGHTS, black_box(&native_request))))));
        fresh.push(time_of(CALLS, || drop(black_box(scorer.assess(black_box(&request)).unwrap()))));
        let batches = time_of(CALLS / BATCH, || drop(black_box(scorer.assess_batch(black_box(&batch)).unwrap())));
        batched.push(batches / BATCH as f64);
    }
    let [native, fresh, batched] = [native, fresh, batched].map(|turns| median(turns) / 1e3);
    say!("native {native:.3} us, fresh instance {fresh:.3} us, item of a batch {batched:.3} us");
    report::result("a risk call in a fresh instance, us", fresh, Target::AtMost(4.0, "us"));
    report::result(
        "an item of a batch, us",
        batched,
        Target::AtMost(0.25 + 2.0 * native, "us, a quarter and twice native"),
    );
    load();
    hold();
}

/// From a component's bytes to its first answer.
fn load() {
    let folder = std::env::temp_dir().join(format!("caudal-bench.{}.cache", std::process::id()));
    let runtime = || Runtime::new().unwrap().with_cache(Cache::open(&folder, b"a benchmark's cache").unwrap());
    let embedded = Embedded::find("risk-2").unwrap();
    let (_, request) = requests();
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let _ = std::fs::remove_dir_all(&folder);
        for times in [&mut cold, &mut warm] {
            let runtime = runtime();
            let begun = Instant::now();
            let component = LoadedComponent::load(&runtime, ModelKind::Risk, embedded.bytes).unwrap();
            let registry = Registry::default().with(component);
            registry.route::<Risk>().unwrap().champion.scorer.assess(&request).unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    report::result("time to a version's first answer, already compiled, ms", median(warm), Target::AtMost(5.0, "ms"));
    report::result("time to a version's first answer, compiling, ms", median(cold), Target::AtMost(150.0, "ms"));
}

/// Versions that are loaded and have answered.
fn hold() {
    let folder = std::env::temp_dir().join(format!("caudal-bench.{}.versions", std::process::id()));
    let embedded = Embedded::find("risk-2").unwrap();
    let (_, request) = requests();
    // Different files: each ends with a custom section of its own.
    let versions: Vec<Vec<u8>> = (0..VERSIONS).map(|number| [embedded.bytes, &[0, 2, 1, number]].concat()).collect();
    let load_all = || {
        let runtime = Runtime::new().unwrap().with_cache(Cache::open(&folder, b"a benchmark's cache").unwrap());
        let before = resident(std::process::id());
        let loaded: Vec<Registry> = versions
            .iter()
            .map(|bytes| {
                let component = LoadedComponent::load(&runtime, ModelKind::Risk, bytes).unwrap();
                let registry = Registry::default().with(component);
                registry.route::<Risk>().unwrap().champion.scorer.assess(&request).unwrap();
                registry
            })
            .collect();
        let each = resident(std::process::id()).saturating_sub(before) as f64 / 1e3 / loaded.len() as f64;
        (loaded, each)
    };
    // Compiles and keeps them, so that the second pass, which is what a host does at start, cannot reuse their memory.
    let _compiled = load_all();
    let (_loaded, each) = load_all();
    let _ = std::fs::remove_dir_all(&folder);
    report::result("resident memory of a warm version, MB", each, Target::AtMost(1.0, "MB"));
}

/// The same for both sides.
fn requests() -> (caudal_model::risk::Request, Request) {
    let native = caudal_model::risk::Request {
        amount: 1500.0,
        is_new_beneficiary: true,
        hour_of_day: 14,
        num_past_transactions: 25,
        avg_transaction_amount: 800.5,
        max_transaction_amount: 4000.0,
        num_transactions_to_beneficiary: 0,
        is_new_device: false,
        geolocation_changed: false,
        beneficiary_saved_minutes: None,
    };
    let ours = Request {
        amount: native.amount,
        is_new_beneficiary: native.is_new_beneficiary,
        hour_of_day: native.hour_of_day,
        num_past_transactions: native.num_past_transactions,
        avg_transaction_amount: native.avg_transaction_amount,
        max_transaction_amount: native.max_transaction_amount,
        num_transactions_to_beneficiary: native.num_transactions_to_beneficiary,
        is_new_device: native.is_new_device,
        geolocation_changed: native.geolocation_changed,
        beneficiary_saved_minutes: native.beneficiary_saved_minutes,
        ..Request::default()
    };
    (native, ours)
}
