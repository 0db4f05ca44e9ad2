//! Transfer rules of contract 2 whose misbehaviour is set in their bytes, as in `hostile-risk`.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use bindings::exports::caudal::rules::rules::{Fact, Guest, Kind, Manifest, Requirement};

caudal_guest::bindings!("../../../wit/rules-2", "transfer-policy");

/// A word of up to twelve letters after the colon, padded with blanks.
static BEHAVIOUR: [u8; 22] = *b"behaviour:sane        ";
/// One more than the host accepts.
const REQUIREMENTS: usize = 1001;
const HIGH: f64 = 2.0;

struct Component;

impl Guest for Component {
    fn describe() -> Manifest {
        let fact = |name: &str, unit: &str, required| Fact {
            name: name.into(),
            kind: Kind::Integer,
            unit: unit.into(),
            required,
        };
        let mut facts = vec![
            fact("amount", "centavos", true),
            fact("available", "centavos", true),
            fact("risk_level", "", behaviour() == "requires"),
        ];
        if behaviour() == "fact" {
            facts.push(fact("shoe_size", "cm", true));
        }
        let third = match behaviour() {
            "code" => "blink",
            "reviews" => "review",
            _ => "wait",
        };
        let reason = if behaviour() == "reason" { "bad-mood" } else { "insufficient-funds" };
        Manifest {
            version: "6.6.7".into(),
            summary: "Misbehaves as configured in its bytes, for tests.".into(),
            facts,
            requirements: ["reject", "acknowledge", third].map(String::from).into(),
            reasons: vec![reason.into()],
        }
    }

    fn decide(values: Vec<Option<f64>>) -> Vec<Requirement> {
        let mut all = Vec::new();
        let mut require = |code, parameter| all.push(Requirement { code, parameter });
        match behaviour() {
            "position" => require(3, 0),
            "parameter" => require(0, 1),
            "negative" => require(0, -1),
            "acknowledge" => require(1, 1),
            "wait" => require(2, 0),
            "refuses" => require(2, 60),
            "reviews" => require(2, 0),
            "many" => (0..REQUIREMENTS).for_each(|_| require(1, 0)),
            _ => {}
        }
        if values[0] > values[1] {
            require(0, 0);
        }
        if values[2] == Some(HIGH) {
            require(1, 0);
        }
        all
    }
}

fn behaviour() -> &'static str {
    // The compiler must not assume the original value.
    let text = core::str::from_utf8(black_box(&BEHAVIOUR)).unwrap_or_default();
    text.split_once(':').map_or("", |(_, word)| word.trim_end())
}
