//! Swaps are invisible to clients: under load the champion changes every 50 ms, every tenth time to a component that
//! has just passed the gate and the compiler.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::load::{Load, MACHINE};
use crate::operator::{Operator, patched};
use crate::process::{DataDir, Service};
use crate::turns::{Turns, turns};
use crate::{is_long, seconds};

/// How long a swap to a new component may be awaited.
const EXAMINED_WITHIN: Duration = Duration::from_secs(60);

const SWAP_EVERY: Duration = Duration::from_millis(50);
/// One swap in this many is to a new component.
const NEW_EVERY: usize = 10;
/// New components of a turn that are pushed before it, of about four.
const PUSHED_BEFORE: usize = 2;

#[test]
fn swaps_are_invisible_to_requests() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let operator = Operator::new(&data, &service);
    let ours = [operator.version("risk-1.0.0"), operator.version("risk-2.0.0")];
    let load = Load::start(&service, "transfer_amount");
    // Connect and warm caches before measuring.
    thread::sleep(Duration::from_secs(1));

    let part = seconds(3) / turns();
    let (mut epoch, mut swaps, mut fresh, mut pushed) = (0, 0, 0, 0);
    let mut states = Turns::new(&["quiet", "committing", "swapping"]);
    for _ in 0..turns() {
        let start = Instant::now();
        thread::sleep(part);
        states.add(0, start);
        let start = Instant::now();
        commit(&service, part);
        states.add(1, start);
        let mut first = Vec::new();
        // Examining takes a while, and a turn is short.
        for _ in 0..if is_long() { PUSHED_BEFORE } else { 0 } {
            first.push(operator.push("risk", patched(pushed).1));
            pushed += 1;
        }
        let start = Instant::now();
        let swapped = swap(&operator, &ours, (epoch, first), pushed, part);
        epoch = swapped.epoch;
        (swaps, fresh, pushed) = (swaps + swapped.swaps, fresh + swapped.fresh, pushed + swapped.pushed);
        states.add(2, start);
    }
    let in_service = operator.metric("caudal_model_swaps_total{kind=\"risk\"}");
    let (samples, transfers) = load.stop();

    for (account, count) in transfers {
        let account = service.must("GET", &format!("/api/ledger/accounts/{account}"), None);
        // 10,000.00 less one centavo for each transfer: each was made once.
        let centavos = (account["balance"].as_f64().unwrap() * 100.0).round() as usize;
        assert_eq!(centavos, 1_000_000 - count, "{account}");
    }
    let requests = samples.iter().filter(|it| it.path != MACHINE).count();
    println!("{requests} requests over 16 connections, all answered with 200 and the score of the version they name");
    println!("{swaps} swaps, {in_service} of them applied, {fresh} to new components");
    states.print(&samples);
    if is_long() {
        assert!(fresh * NEW_EVERY * 10 >= swaps * 8, "too few of {swaps} swaps were to new components: {fresh}");
    }
    assert!(swaps > 10 && in_service > 10.0 && fresh > 0, "{swaps} {in_service} {fresh}");
    service.stop();
}

/// Commits as often as swaps do, but without concern for models: the baseline for the cost of a swap's own commit.
fn commit(service: &Service, time: Duration) {
    let profile = json!({"theme": "standard-accessible", "screenReaderMode": false, "fontScale": 1.2,
        "nudgingLevel": "medium", "voiceFeedback": false});
    let start = Instant::now();
    let mut due = start;
    while start.elapsed() < time {
        service.must("PUT", "/api/profile/accessibility", Some(profile.clone()));
        due += SWAP_EVERY;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

struct SwapCounts {
    epoch: i64,
    swaps: usize,
    /// Swaps to new components.
    fresh: usize,
    /// Components that went through the gate.
    pushed: usize,
}

/// Swaps champions for `time`; `first` was pushed before.
fn swap(
    operator: &Operator,
    ours: &[String; 2],
    (mut epoch, first): (i64, Vec<String>),
    pushed_before: usize,
    time: Duration,
) -> SwapCounts {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (found, new) = channel();
        first.into_iter().for_each(|version| drop(found.send(version)));
        let done = &done;
        let pusher = scope.spawn(move || {
            let mut pushed = 0;
            while !done.load(Relaxed) {
                let start = Instant::now();
                let version = operator.push("risk", patched(pushed_before + pushed).1);
                pushed += 1;
                // The receiver is gone at the end.
                let _ = found.send(version);
                thread::sleep((SWAP_EVERY * 10).saturating_sub(start.elapsed()));
            }
            pushed
        });
        let (start, mut swaps, mut fresh) = (Instant::now(), 0, 0);
        // Examining a component takes longer beside other tests.
        while start.elapsed() < time || (fresh == 0 && start.elapsed() < EXAMINED_WITHIN) {
            let known = &ours[swaps % 2];
            let pushed = if swaps % NEW_EVERY == NEW_EVERY - 1 { new.try_recv().ok() } else { None };
            fresh += usize::from(pushed.is_some());
            epoch = operator.deploy("risk", pushed.as_ref().unwrap_or(known), epoch);
            swaps += 1;
            let due = start + SWAP_EVERY * u32::try_from(swaps).unwrap();
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        done.store(true, Relaxed);
        SwapCounts { epoch, swaps, fresh, pushed: pusher.join().unwrap() }
    })
}
