//! Which features the engine is built with. Each one is code that a component might reach, and time
//! that every build pays, so none may be enabled by accident.

use std::process::Command;

use serde_json::Value;

use crate::built::{root, runtime, with_causes};

/// Features of wasmtime, and why each is there.
const WASMTIME: [(&str, &str); 9] = [
    ("async", "wasmtime-wasi requires it for its p2; nothing here calls it"),
    ("component-model", "scorers are components"),
    ("cranelift", "compiles them"),
    ("gc", "configured off; versions before 48.0.9 may abort without it (RUSTSEC-2026-0570)"),
    ("once_cell", "part of std"),
    ("pooling-allocator", "instances in microseconds"),
    ("runtime", "runs them"),
    ("std", "the host has it"),
    ("wasmtime-jit-icache-coherence", "part of std"),
];

/// Features of wasmtime-wasi.
const WASI: [(&str, &str); 1] = [("p2", "language runtimes import it; see wasm/wasi.rs")];

#[test]
fn only_the_features_that_are_needed_are_enabled() {
    // Only what a build here has downloaded.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &platform])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    for (name, expected) in [("wasmtime", &WASMTIME[..]), ("wasmtime-wasi", &WASI[..])] {
        let id = format!("#{name}@");
        let nodes: Vec<&Value> = metadata["resolve"]["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|node| node["id"].as_str().unwrap().contains(&id))
            .collect();
        let [node] = nodes[..] else { panic!("{} versions of {name}", nodes.len()) };
        let enabled: Vec<_> = node["features"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let expected: Vec<_> = expected.iter().map(|(feature, _)| *feature).collect();
        assert_eq!(enabled, expected, "{name}: a new feature needs its reason in this list");
    }
}

/// The exemption in `.deny.toml` gives two reasons: the feature `gc`, which the list above requires, and that the engine
/// does not use it.
#[test]
fn the_exemption_of_garbage_collection_ends_with_the_version_that_needs_it() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let is_exempt = read(".deny.toml").contains("RUSTSEC-2026-0570");
    assert_eq!(is_exempt, read("Cargo.lock").contains("name = \"wasmtime\"\nversion = \"48.0.8\""));
    let collected = wat::parse_str("(component (core module (type (struct)) (func (drop (struct.new 0)))))").unwrap();
    let error = runtime().compile(&collected).err().expect("the engine collects no garbage");
    assert!(with_causes(&error).contains("gc"), "{}", with_causes(&error));
}
