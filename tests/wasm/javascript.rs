//! A risk model in JavaScript, compiled with the ecosystem's own tool: it imports WASI, gets an empty one, and
//! answers correctly.

use std::path::Path;
use std::time::Instant;

use caudal::domain::model::PolicyClass;
use caudal::domain::risk;
use caudal::gate::report::CheckOutcome;
use caudal::scoring::{Risk, Scorer};
use caudal::wasm::{Cache, Runtime};

use crate::built::javascript;
use crate::gate::examine;

fn request(amount: f64) -> risk::Request {
    risk::Request {
        amount,
        is_new_beneficiary: true,
        hour_of_day: 23,
        num_past_transactions: 12,
        avg_transaction_amount: 450.0,
        max_transaction_amount: 1200.0,
        num_transactions_to_beneficiary: 0,
        is_new_device: false,
        geolocation_changed: false,
        ..risk::Request::default()
    }
}

#[test]
fn the_gate_accepts_it_as_deny_all() {
    let report = examine(&javascript());
    assert!(report.is_accepted(), "{report:#?}");
    assert_eq!((report.class.as_deref(), report.kind.as_deref()), (Some("deny-all"), Some("risk")));
    assert!(report.model_version.unwrap().starts_with("risk-3.0.0+"));
    let imports = report.checks.iter().find(|check| check.name == "imports").unwrap();
    assert_eq!(imports.outcome, CheckOutcome::Noted);
    assert!(imports.detail.contains("interfaces of WASI: it gets no files, network"), "{}", imports.detail);
}

#[tokio::test(flavor = "current_thread")]
async fn it_scores_the_same_bits_each_time_even_from_the_cache_and_inside_an_async_runtime() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("javascript-cache");
    let _ = std::fs::remove_dir_all(&folder);
    let cached = || Runtime::new().unwrap().with_cache(Cache::open(&folder, b"a secret of the tests").unwrap());
    let bytes = javascript();
    let cold = cached();
    let start = Instant::now();
    let scorer = Scorer::<Risk>::load(&cold, &bytes).unwrap();
    let compiling = start.elapsed();
    assert_eq!(cold.counts(), (1, 0));
    assert_eq!(scorer.identity().class, PolicyClass::DenyAll);

    // This thread runs an async runtime, which the implementation of WASI must not block.
    let usual = scorer.assess(&request(400.0)).unwrap();
    let unusual = scorer.assess(&request(9000.0)).unwrap();
    assert!(unusual.score > usual.score);
    assert_eq!(unusual.factors, ["AMOUNT_MUCH_HIGHER_THAN_AVERAGE", "NEW_BENEFICIARY", "UNUSUAL_TIME"]);
    let explained = scorer.explain(&request(9000.0)).unwrap().unwrap();
    assert!(explained.predictor.is_finite() && explained.contributions.len() > 3);

    let warm = cached();
    let start = Instant::now();
    let again = Scorer::<Risk>::load(&warm, &bytes).unwrap();
    assert_eq!(warm.counts(), (0, 1), "nothing is compiled");
    assert!(start.elapsed() < compiling, "{:?} and {compiling:?}", start.elapsed());
    for _ in 0..20 {
        assert_eq!(again.assess(&request(9000.0)).unwrap(), unusual);
    }
    let batch = again.assess_batch(&[request(400.0), request(9000.0)]).unwrap();
    let batch: Vec<_> = batch.into_iter().map(Result::unwrap).collect();
    assert_eq!(batch, [usual, unusual]);
    std::fs::remove_dir_all(&folder).unwrap();
}
