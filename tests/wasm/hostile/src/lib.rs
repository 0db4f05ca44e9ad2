//! A nudge component that misbehaves on request: the fixture of the host's limit tests.
//!
//! The `screen` of a request picks the misbehaviour (see `assess`); any other screen gets a sane
//! answer, so that a test can tell a contained fault from a dead component. Never for production.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::vec::Vec;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bindings::exports::caudal::scoring::model::{self, Invalid};
use bindings::exports::caudal::scoring::nudge::{Assessment, Guest, NudgeType, Request};

caudal_guest::bindings!("../../../wit", "nudge-scorer");

/// How much memory `grow` asks for at a time: a page, so that it ends at the host's very limit.
const GROW_STEP_BYTES: usize = 64 * 1024;
/// How long the reason of `huge` is: far over any sane answer, and well within the memory limit, so
/// that it is the answer which is refused.
const HUGE_BYTES: usize = 2 * 1024 * 1024;
/// `count` answers its counter in thousandths, so that it stays a valid score for a while.
const COUNT_UNIT: f64 = 1000.0;

/// Calls of `count` that this instance has seen: above 1 only when somebody reuses an instance.
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

/// An answer of low difficulty with any score, fitting or not.
fn low(difficulty_score: f64) -> Assessment {
    Assessment {
        needs_help: false,
        difficulty_score,
        recommended_nudge_type: NudgeType::Warning,
        reason: "low_difficulty".into(),
    }
}

/// Never ends. `black_box` keeps the counter, and with it the loop's body, from being removed.
fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

/// The `unreachable` instruction, or an abort where there is none.
fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort();
}

/// Takes memory until it is refused, touching every block, then traps.
fn grow() -> ! {
    loop {
        let mut block = Vec::<u8>::new();
        if block.try_reserve_exact(GROW_STEP_BYTES).is_err() {
            trap();
        }
        block.push(1);
        // Kept for good, as a leak would be.
        core::mem::forget(black_box(block));
    }
}

/// Goes deeper until the host's stack ends: everything it keeps is in the engine's own frames. It
/// could end, and works after the call in an order that matters, so it stays a recursion.
#[inline(never)]
fn recurse(depth: u32) -> u32 {
    if CALLS.load(Relaxed) == u32::MAX {
        return depth;
    }
    recurse(depth.wrapping_add(1)).rotate_left(1) ^ depth
}

/// Goes deeper until the component's own stack in its memory ends: `black_box` keeps a value there.
#[inline(never)]
#[expect(unconditional_recursion, reason = "the stack has to run out")]
fn spill(depth: u32) -> u32 {
    let below = spill(black_box(depth.wrapping_add(1)));
    black_box(below).wrapping_add(depth)
}
