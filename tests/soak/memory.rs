//! Swaps do not leak memory.

use std::fs;

use crate::is_long;
use crate::operator::{Operator, patched};
use crate::process::{DataDir, Service, eventually};

/// Swaps in all, those of them before memory is measured, and the factor by which it may then grow. Until some 600 swaps
/// are done the allocator keeps more and more, so the short form measures while it still does.
const SHORT: (usize, usize, f64) = (200, 50, 1.25);
const LONG: (usize, usize, f64) = (1600, 600, 1.10);

/// Swaps of a measurement. Memory varies by a tenth from one swap to the next, with the threads that happen to run, so
/// the median counts.
const WINDOW: usize = 50;

/// Kilobytes of resident memory of a process.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Mappings with machine code that no file backs: one for each loaded component.
fn components(pid: u32) -> usize {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    // A file's path, or a name such as `[vdso]`, would be a sixth part.
    let is_component =
        |line: &&str| line.split_whitespace().nth(1) == Some("r-xp") && line.split_whitespace().count() == 5;
    maps.lines().filter(is_component).count()
}

fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    values[values.len() / 2] as f64
}

#[test]
fn swaps_do_not_leak_memory() {
    let (swaps, warm_up, growth_max) = if is_long() { LONG } else { SHORT };
    let data = DataDir::new();
    let service = Service::start(&data);
    let operator = Operator::new(&data, &service);
    // Four versions in turn, of which a host keeps two, so every swap loads one.
    let mut versions = vec![operator.version("risk-1.0.0"), operator.version("risk-2.0.0")];
    versions.extend((0..2).map(|number| operator.push("risk", patched(number).1)));
    let swapped = || operator.metric("caudal_model_swaps_total{kind=\"risk\"}");
    let (mut kilobytes, mut loaded) = (Vec::new(), Vec::new());
    for swap in 0..swaps {
        operator.deploy("risk", &versions[swap % versions.len()], i64::try_from(swap).unwrap());
        eventually("the host applies the swap", || swapped() > swap as f64);
        kilobytes.push(resident(service.pid()));
        loaded.push(components(service.pid()));
    }
    let first = warm_up..warm_up + WINDOW;
    let last = swaps - WINDOW..swaps;
    let [warm, end] = [first.clone(), last.clone()].map(|window| median(kilobytes[window].to_vec()));
    let [most, held] = [first, last].map(|window| loaded[window].iter().max().copied().unwrap());
    println!("{swaps} swaps, each loading a component: {warm} KiB resident after {warm_up}, {end} KiB at the end");
    assert!(most > 0, "no loaded component was found");
    // One that is being loaded or dropped may count at one time and not at another.
    assert!(held <= most + 2, "{most} components are loaded after {warm_up} swaps, {held} at the end");
    assert!(end <= warm * growth_max, "{warm} KiB after {warm_up} swaps and {end} KiB after {swaps}");
    service.stop();
}
