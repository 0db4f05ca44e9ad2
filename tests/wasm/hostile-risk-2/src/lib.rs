//! A risk component of contract 2 whose misbehaviour is set in its bytes, as in `hostile-risk`.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use bindings::exports::caudal::risk::risk::{Assessment, Explanation, Fact, Guest, Kind, Manifest, Outcome};

caudal_guest::bindings!("../../../wit/risk-2", "risk-scorer");

/// A word of up to twelve letters after the colon, padded with blanks.
static BEHAVIOUR: [u8; 22] = *b"behaviour:sane        ";
/// Centavos above which the amount weighs no more.
const AMOUNT_MAX: f64 = 10_000_000.0;

struct Component;

impl Guest for Component {
    fn describe() -> Manifest {
        let fact = |name: &str, kind, unit: &str| Fact { name: name.into(), kind, unit: unit.into(), required: true };
        let mut facts = vec![fact("amount", Kind::Integer, "centavos"), fact("is_new_beneficiary", Kind::Flag, "")];
        match behaviour() {
            "fact" => facts.push(fact("shoe_size", Kind::Number, "cm")),
            "unit" => facts[0].unit = "MXN".into(),
            "requires" => facts.push(fact("beneficiary_saved_minutes", Kind::Integer, "minutes")),
            _ => {}
        }
        let reason = if behaviour() == "reason" { "FULL_MOON" } else { "NEW_BENEFICIARY" };
        Manifest {
            version: "6.6.6".into(),
            summary: "Misbehaves as configured in its bytes, for tests.".into(),
            facts,
            reasons: vec![reason.into()],
            contributions: ["amount", "is_new_beneficiary"].map(String::from).into(),
        }
    }

    fn assess(values: Vec<Option<f64>>) -> Outcome {
        let is_new = values[1] == Some(1.0);
        let Explanation { base, contributions } = Self::explain(values);
        let off = if behaviour() == "sum" { 0.01 } else { 0.0 };
        let predictor = base + contributions.iter().sum::<f64>() + off;
        let scored = |score, reasons| Outcome::Scored(Assessment { predictor, score, reasons });
        match behaviour() {
            "abstains" => Outcome::Abstained(0),
            "abstains-new" if is_new => Outcome::Abstained(0),
            "index" => scored(0.5, vec![7]),
            "infinite" => Outcome::Scored(Assessment { predictor: f64::INFINITY, score: 0.5, reasons: Vec::new() }),
            "falls" if is_new => scored(0.0, vec![0]),
            // High for a payment in which no factor of the specification applies.
            "high" => scored(0.75 + predictor / 10.0, Vec::new()),
            _ => scored(predictor, if is_new { vec![0] } else { Vec::new() }),
        }
    }

    fn assess_batch(rows: Vec<Vec<Option<f64>>>) -> Vec<Outcome> {
        rows.into_iter().map(Self::assess).collect()
    }

    fn explain(values: Vec<Option<f64>>) -> Explanation {
        let amount = values[0].unwrap_or_default().min(AMOUNT_MAX) / AMOUNT_MAX;
        Explanation { base: 0.125, contributions: vec![amount / 4.0, values[1].unwrap_or_default() / 4.0] }
    }
}

fn behaviour() -> &'static str {
    // The compiler must not assume the original value.
    let text = core::str::from_utf8(black_box(&BEHAVIOUR)).unwrap_or_default();
    text.split_once(':').map_or("", |(_, word)| word.trim_end())
}
