//! The components that `components/build.sh` has built.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use caudal::wasm::Runtime;

use crate::fixtures::{fixture, misbehaving};

/// The components of the host, with their worlds.
pub(crate) const WORLDS: [(&str, &str); 5] = [
    ("risk", "risk-scorer"),
    ("risk-1", "risk-scorer"),
    ("nudge", "nudge-scorer"),
    ("accessibility", "accessibility-scorer"),
    ("transfer-rules", "transfer-policy"),
];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The bytes of one of [`WORLDS`].
pub(crate) fn component(name: &str) -> Vec<u8> {
    let path = root().join("target/components").join(name).with_extension("wasm");
    fs::read(path).unwrap_or_else(|error| panic!("target/components/{name}.wasm: {error}; run `make components` first"))
}

/// The nudge scorer that misbehaves on request.
pub(crate) fn hostile() -> Vec<u8> {
    fixture("hostile.wasm")
}

/// The risk scorer in JavaScript.
pub(crate) fn javascript() -> Vec<u8> {
    fixture("javascript.wasm")
}

/// The risk scorer with a certain misbehaviour.
pub(crate) fn hostile_risk(behaviour: &str) -> Vec<u8> {
    misbehaving("hostile-risk.wasm", behaviour)
}

/// The same of contract 2.
pub(crate) fn hostile_risk_2(behaviour: &str) -> Vec<u8> {
    misbehaving("hostile-risk-2.wasm", behaviour)
}

/// Transfer rules of contract 2 with a certain misbehaviour.
pub(crate) fn hostile_rules_2(behaviour: &str) -> Vec<u8> {
    misbehaving("hostile-rules-2.wasm", behaviour)
}

/// Every component with its name and world, including the hostile one.
pub(crate) fn all() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut all: Vec<_> = WORLDS.map(|(name, world)| (name, world, component(name))).into();
    all.push(("hostile", "nudge-scorer", hostile()));
    all
}

/// One engine for all tests.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

/// An error with its causes.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
