//! Transfer rules that are a table: converts between the WIT types and [`caudal_ensemble::table`].
//!
//! The component is complete only with a table in its memory, which `caudal-convert` places there; without one, each call
//! traps.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::vec::Vec;

use caudal_ensemble::table::Table;
use caudal_guest::{appended, text, trap};

use bindings::exports::caudal::rules::rules::{Fact, Guest, Kind, Manifest, Requirement};

caudal_guest::bindings!("../../wit/rules-2", "transfer-policy");

struct Component;

impl Guest for Component {
    fn describe() -> Manifest {
        let table = table();
        let kind = |kind| match kind {
            caudal_ensemble::Kind::Number => Kind::Number,
            caudal_ensemble::Kind::Integer => Kind::Integer,
            caudal_ensemble::Kind::Flag => Kind::Flag,
        };
        let fact =
            |(name, what, unit, required)| Fact { name: text(name), kind: kind(what), unit: text(unit), required };
        Manifest {
            version: text(table.version()),
            summary: text(table.summary()),
            facts: table.facts().map(fact).collect(),
            requirements: table.requirements().map(text).collect(),
            reasons: table.reasons().map(text).collect(),
        }
    }

    fn decide(values: Vec<Option<f64>>) -> Vec<Requirement> {
        let required = table().decide(&values).unwrap_or_else(|| trap());
        required.into_iter().map(|(code, parameter)| Requirement { code, parameter }).collect()
    }
}

fn table() -> Table<'static> {
    Table::read(appended()).unwrap_or_else(|| trap())
}
