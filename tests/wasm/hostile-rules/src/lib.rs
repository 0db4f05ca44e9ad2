//! Transfer rules that trap on a transfer of 6.66 and accept everything else: a fixture for the ledger.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::string::String;

use bindings::exports::caudal::scoring::model;
use bindings::exports::caudal::scoring::transfer_rules::{Facts, Guest, Verdict};

caudal_guest::bindings!("../../../wit", "transfer-policy");

/// The amount in centavos that triggers the trap.
const UNLUCKY: i64 = 666;

struct Component;

impl model::Guest for Component {
    fn describe() -> model::Description {
        let summary = "Traps on an unlucky amount, for tests.".into();
        model::Description { kind: "transfer-rules".into(), version: "6.6.6".into(), summary }
    }
}

impl Guest for Component {
    fn decide(facts: Facts) -> Verdict {
        if facts.amount == UNLUCKY {
            trap();
        }
        Verdict::Accepted
    }

    fn transition(status: String, event: String) -> Option<String> {
        match (status.as_str(), event.as_str()) {
            ("pending", "settled") => Some("completed".into()),
            ("pending", "rejected") => Some("failed".into()),
            _ => None,
        }
    }
}

/// Executes `unreachable` in wasm, and aborts elsewhere.
fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort();
}
