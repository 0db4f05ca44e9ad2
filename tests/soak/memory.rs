//! Swaps do not leak memory.

use std::fs;

use crate::is_long;
use crate::operator::{Operator, patched};
use crate::process::{DataDir, Service, eventually};

/// Factor on the least memory of a quarter of the swaps, from the second quarter to the last. Memory varies by a tenth
/// with the threads that happen to run and with what the allocator keeps, its lower edge by half of that; a leak raises it.
const GROWTH_MAX: f64 = 1.10;

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

#[test]
fn swaps_do_not_leak_memory() {
    let swaps = if is_long() { 4000 } else { 200 };
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
    // What the threads and the allocator take at first is not counted.
    let [early, late] = [swaps / 4..swaps / 2, swaps * 3 / 4..swaps];
    let [warm, end] = [early.clone(), late.clone()].map(|quarter| kilobytes[quarter].iter().min().copied().unwrap());
    let [most, held] = [early, late].map(|quarter| loaded[quarter].iter().max().copied().unwrap());
    println!("{swaps} swaps, each loading a component: at least {warm} KiB resident early, {end} KiB at the end");
    assert!(most > 0, "no loaded component was found");
    // One that is being loaded or dropped may count at one time and not at another.
    assert!(held <= most + 2, "{most} components are loaded early, {held} at the end");
    assert!(end as f64 <= warm as f64 * GROWTH_MAX, "at least {warm} KiB early, {end} KiB at the end");
    service.stop();
}
