//! A nudge component that misbehaves on request: the fixture for the host's limits.
//!
//! The `screen` of a request selects the misbehaviour (see `assess`). Any other screen gets a valid answer,
//! so that a test can distinguish a contained failure from a dead component.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::vec::Vec;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bindings::exports::caudal::scoring::model::{self, Invalid};
use bindings::exports::caudal::scoring::nudge::{Assessment, Guest, NudgeType, Request};

caudal_guest::bindings!("../../../wit", "nudge-scorer");

/// `grow` allocates one page at a time, so that it stops exactly at the host's limit.
const GROW_STEP_BYTES: usize = 64 * 1024;
/// Length of the reason in `huge`: far longer than any valid answer but well within the memory limit, so
/// that the answer is what the host rejects.
const HUGE_BYTES: usize = 4 * 1024 * 1024;
/// `count` returns its counter in thousandths, so that it remains a valid score for a while.
const COUNT_UNIT: f64 = 1000.0;

/// Calls of `count` in this instance: more than one only if the host reuses instances.
static CALLS: AtomicU32 = AtomicU32::new(0);

struct Component;

impl model::Guest for Component {
    fn describe() -> model::Description {
        model::Description {
            kind: "nudge".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: "Misbehaves on request, for tests.".into(),
        }
    }
}

impl Guest for Component {
    fn assess(request: Request) -> Result<Assessment, Invalid> {
        assess(&request.screen)
    }

    fn assess_batch(requests: Vec<Request>) -> Vec<Result<Assessment, Invalid>> {
        requests.into_iter().map(Self::assess).collect()
    }
}

fn assess(screen: &str) -> Result<Assessment, Invalid> {
    Ok(match screen {
        "loop" => spin(),
        "trap" => trap(),
        "grow" => grow(),
        "recurse" => low(f64::from(recurse(0) % 2) / COUNT_UNIT),
        "spill" => low(f64::from(spill(0) % 2) / COUNT_UNIT),
        "huge" => Assessment { reason: "x".repeat(HUGE_BYTES), ..low(0.1) },
        "nan" => low(f64::NAN),
        "range" => Assessment {
            needs_help: true,
            difficulty_score: 1.5,
            recommended_nudge_type: NudgeType::Assist,
            reason: "high_error_rate_or_time".into(),
        },
        "mismatch" => low(0.9),
        "unknown-reason" => Assessment { reason: "the_stars_are_wrong".into(), ..low(0.1) },
        "invalid" => {
            return Err(Invalid {
                field: "screen".into(),
                code: "out-of-range".into(),
                detail: "This screen is refused although the contract allows it.".into(),
            });
        }
        "count" => low(f64::from(CALLS.fetch_add(1, Relaxed) + 1) / COUNT_UNIT),
        _ => low(0.1),
    })
}

/// A verdict of low difficulty with any score, even an inconsistent one.
fn low(difficulty_score: f64) -> Assessment {
    Assessment {
        needs_help: false,
        difficulty_score,
        recommended_nudge_type: NudgeType::Warning,
        reason: "low_difficulty".into(),
    }
}

/// Never returns. `black_box` keeps the compiler from removing the loop's body.
fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

/// Executes `unreachable` in wasm, and aborts elsewhere.
fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort();
}

/// Allocates and touches memory until an allocation fails, then traps.
fn grow() -> ! {
    loop {
        let mut block = Vec::<u8>::new();
        if block.try_reserve_exact(GROW_STEP_BYTES).is_err() {
            trap();
        }
        block.push(1);
        // Leak it.
        core::mem::forget(black_box(block));
    }
}

/// Recurses until the host's stack overflows: all state is in the engine's frames. It could terminate, and
/// computes after the recursive call, so the compiler cannot turn it into a loop.
#[inline(never)]
fn recurse(depth: u32) -> u32 {
    if CALLS.load(Relaxed) == u32::MAX {
        return depth;
    }
    recurse(depth.wrapping_add(1)).rotate_left(1) ^ depth
}

/// Recurses until the component's own stack, in its memory, overflows: `black_box` keeps a value there.
#[inline(never)]
#[expect(unconditional_recursion, reason = "the stack has to run out")]
fn spill(depth: u32) -> u32 {
    let below = spill(black_box(depth.wrapping_add(1)));
    black_box(below).wrapping_add(depth)
}
