//! A risk component whose misbehaviour is set in its bytes: the fixture for the gate.
//!
//! A test overwrites `BEHAVIOUR` in the built file, which also changes its digest. Every word except `sane`
//! corrupts the answers of `risk-2`.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use caudal_model::risk;

use bindings::exports::caudal::scoring::model::{self, Invalid};
use bindings::exports::caudal::scoring::risk::{Assessment, Contribution, Guest, Level, Request};

caudal_guest::bindings!("../../../wit", "risk-scorer");

/// A word of up to twelve letters after the colon, padded with blanks.
static BEHAVIOUR: [u8; 22] = *b"behaviour:sane        ";
/// One in this many inputs triggers rare misbehaviour.
const RARELY: u64 = 1000;
/// Length of each of the [`FACTORS`] in an answer of a hundred megabytes.
const FACTOR_BYTES: usize = 1 << 20;
const FACTORS: usize = 100;

const WEIGHTS: risk::Weights<'static> = risk::Weights::built_in(include_bytes!(env!("CAUDAL_RISK_WEIGHTS")));

/// Calls in this instance.
static CALLS: AtomicU32 = AtomicU32::new(0);

struct Component;

impl model::Guest for Component {
    fn describe() -> model::Description {
        let summary = "Misbehaves as configured in its bytes, for tests.".into();
        model::Description { kind: "risk".into(), version: "6.6.6".into(), summary }
    }
}

impl Guest for Component {
    fn assess(request: Request) -> Result<Assessment, Invalid> {
        let mut answer = sound(&request)?;
        let rarely = fingerprint(&request).is_multiple_of(RARELY);
        match behaviour() {
            "nan" => answer.score = f64::NAN,
            "nan-rarely" if rarely => answer.score = f64::NAN,
            // Not a constant, which the compiler would fold: a zero divided by itself.
            "nan-sign" if (black_box(0.0) / black_box(0.0_f64)).is_sign_negative() => {
                answer.score = floor(answer.level) + 0.01;
            }
            "range" => (answer.score, answer.level) = (1.5, Level::High),
            "level" => answer.level = Level::High,
            "factor" => answer.factors = vec!["FULL_MOON".into()],
            // A larger amount has a lower score.
            "falling" => answer.score = floor(answer.level) + 0.2 / (1.0 + request.amount),
            "falls-rarely" if rarely => answer.score = floor(answer.level),
            "trap" => trap(),
            "trap-rarely" if rarely => trap(),
            "loop" => spin(),
            "huge" => answer.factors = (0..FACTORS).map(|_| "x".repeat(FACTOR_BYTES)).collect::<Vec<String>>(),
            // Another call in the same instance would give another score.
            "count" => answer.score = floor(answer.level) + f64::from(CALLS.fetch_add(1, Relaxed)) / 1000.0,
            "invalid" => {
                return Err(Invalid { field: "amount".into(), code: "unlucky".into(), detail: "Not today.".into() });
            }
            _ => {}
        }
        Ok(answer)
    }

    fn assess_batch(requests: Vec<Request>) -> Vec<Result<Assessment, Invalid>> {
        requests.into_iter().map(Self::assess).collect()
    }
}

fn behaviour() -> &'static str {
    // The compiler must not assume the original value.
    let text = core::str::from_utf8(black_box(&BEHAVIOUR)).unwrap_or_default();
    text.split_once(':').map_or("", |(_, word)| word.trim_end())
}

/// The lowest score of a level.
fn floor(level: Level) -> f64 {
    match level {
        Level::Low => 0.0,
        Level::Medium => 0.25,
        Level::High => 0.75,
    }
}

/// The answer of `risk-2`.
fn sound(request: &Request) -> Result<Assessment, Invalid> {
    let facts = risk::Request {
        amount: request.amount,
        is_new_beneficiary: request.is_new_beneficiary,
        hour_of_day: request.hour_of_day,
        num_past_transactions: request.num_past_transactions,
        avg_transaction_amount: request.avg_transaction_amount,
        max_transaction_amount: request.max_transaction_amount,
        num_transactions_to_beneficiary: request.num_transactions_to_beneficiary,
        is_new_device: request.is_new_device,
        geolocation_changed: request.geolocation_changed,
        beneficiary_saved_minutes: request.beneficiary_saved_minutes,
    };
    let invalid =
        |it: caudal_model::Invalid| Invalid { field: it.field.into(), code: it.code.into(), detail: it.detail.into() };
    let verdict = risk::assess(&WEIGHTS, &facts).map_err(invalid)?;
    let contribution = |it: risk::Contribution| Contribution { feature: it.feature.into(), weight: it.weight };
    Ok(Assessment {
        level: match verdict.level {
            risk::Level::Low => Level::Low,
            risk::Level::Medium => Level::Medium,
            risk::Level::High => Level::High,
        },
        score: verdict.score,
        base: verdict.base,
        contributions: verdict.contributions.into_iter().map(contribution).collect(),
        factors: verdict.factors.into_iter().map(Into::into).collect(),
    })
}

/// A pseudorandom number that depends on the request alone.
fn fingerprint(request: &Request) -> u64 {
    let flags = [request.is_new_beneficiary, request.is_new_device, request.geolocation_changed];
    let flags = flags.iter().fold(0_u64, |bits, flag| bits << 1 | u64::from(*flag));
    let saved = request.beneficiary_saved_minutes.map_or(0, |minutes| u64::from(minutes) + 1);
    let mut hash = request.amount.to_bits() ^ (flags << 50) ^ (saved << 30) ^ u64::from(request.num_past_transactions);
    hash ^= u64::from(request.num_transactions_to_beneficiary) << 10;
    // The finalizer of SplitMix64.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Executes `unreachable` in wasm, and aborts elsewhere.
fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort();
}

/// Never returns.
fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}
