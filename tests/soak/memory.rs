//! A thousand swaps do not leak memory.

use std::fs;

use crate::is_long;
use crate::operator::{Operator, patched};
use crate::process::{DataDir, Service, eventually};

/// Swaps before memory is measured, as the baseline.
const WARM_UP: usize = 50;

/// Factor on resident memory.
const GROWTH_MAX: f64 = 1.10;

/// Kilobytes of resident memory of a process.
fn resident(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_thousand_swaps_do_not_leak_memory() {
    let swaps = if is_long() { 1000 } else { 150 };
    let data = DataDir::new();
    let service = Service::start(&data);
    let operator = Operator::new(&data, &service);
    // Four versions in turn, of which a host keeps two, so every swap loads one.
    let mut versions = vec![operator.version("risk-1.0.0"), operator.version("risk-2.0.0")];
    versions.extend((0..2).map(|number| operator.push("risk", patched(number).1)));
    let swapped = || operator.metric("caudal_model_swaps_total{kind=\"risk\"}");
    let mut warm = 0.0;
    for swap in 0..swaps {
        if swap == WARM_UP {
            warm = resident(service.pid());
        }
        operator.deploy("risk", &versions[swap % versions.len()], i64::try_from(swap).unwrap());
        eventually("the host applies the swap", || swapped() > swap as f64);
    }
    let end = resident(service.pid());
    println!("{swaps} swaps, each loading a component: {warm} KiB resident after {WARM_UP}, {end} KiB at the end");
    assert!(end <= warm * GROWTH_MAX, "{warm} KiB after {WARM_UP} swaps and {end} KiB after {swaps}");
    service.stop();
}
