//! The direction of imports between the host's modules.

use std::collections::BTreeSet;

use crate::imports::{imports, module_path};
use crate::source::{Source, assert_clean, assert_each_breaks, host};

/// What each module may import besides itself.
const LAYERS: [(&str, &[&str]); 34] = [
    ("lib", &["http", "db"]),
    ("main", &["cli", "config"]),
    ("cli", &["serve", "app", "http", "postgres", "config", "*"]),
    ("serve", &["schedules", "app", "http", "*"]),
    ("http", &["schedules", "orders", "app", "*"]),
    ("schedules", &["orders", "app", "*"]),
    ("orders", &["app", "*"]),
    ("app", &["*"]),
    ("replay", &["models", "scoring", "schema", "wasm", "decision", "domain", "db", "clock"]),
    ("enforcement", &["models", "scoring", "schema", "decision", "domain", "db", "sealing", "clock"]),
    ("gate", &["scoring", "schema", "wasm", "db", "sealing", "domain", "clock"]),
    ("ledger", &["models", "metrics", "telemetry", "db", "sealing", "decision", "domain", "clock"]),
    ("models", &["metrics", "telemetry", "scoring", "schema", "wasm", "db", "sealing", "decision", "domain", "clock"]),
    ("scoring", &["schema", "wasm", "domain"]),
    ("schema", &["clock"]),
    ("audit", &["auth", "metrics"]),
    ("auth", &["client", "db", "domain", "clock"]),
    ("analytics", &["db", "domain", "clock"]),
    ("outbox", &["metrics", "schema", "db", "domain", "clock"]),
    ("sinks", &["outbox", "metrics", "client", "workers", "db", "sealing", "domain", "clock"]),
    ("payees", &["db", "sealing", "domain"]),
    ("rail", &["ledger", "metrics", "telemetry", "client", "workers", "db", "sealing", "domain", "clock"]),
    ("client", &[]),
    ("workers", &[]),
    ("db", &["telemetry", "sealing", "schema", "decision", "domain", "clock"]),
    ("metrics", &[]),
    ("telemetry", &["client"]),
    ("sealing", &[]),
    ("wasm", &["decision", "domain"]),
    // The database's binaries and processes, below everything that uses them.
    ("postgres", &[]),
    // Arguments are parsed into the parts' own types.
    ("config", &["*"]),
    ("clock", &[]),
    ("decision", &["sealing", "domain"]),
    ("domain", &["schema"]),
];

/// What `*` stands for: the service's parts below `app`.
const PARTS: [&str; 24] = [
    "audit",
    "metrics",
    "telemetry",
    "replay",
    "enforcement",
    "gate",
    "ledger",
    "models",
    "scoring",
    "schema",
    "auth",
    "analytics",
    "outbox",
    "sinks",
    "payees",
    "rail",
    "client",
    "workers",
    "db",
    "sealing",
    "wasm",
    "clock",
    "decision",
    "domain",
];

fn layers(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| module_path(&source.path).is_some()) {
        let Some(module) = source.module() else { continue };
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            complaints.push(source.at(1, &format!("the module {module} is not in the table of layers")));
            continue;
        };
        let mut seen = BTreeSet::new();
        for import in imports(source) {
            let Some(name) = import.path.first() else { continue };
            let known = LAYERS.iter().any(|(module, _)| module == name);
            let is_part = allowed.contains(&"*") && PARTS.contains(&name.as_str());
            let is_allowed = name == module || is_part || allowed.contains(&name.as_str());
            // One complaint about each module is enough for a file.
            if known && !is_allowed && seen.insert(name.clone()) {
                complaints
                    .push(source.at(import.line, &format!("{module} imports {name}: {}", import.path.join("::"))));
            }
        }
    }
    complaints
}

#[test]
fn modules_import_only_what_is_below_them() {
    assert_clean(layers(&host()));
}

#[test]
fn imports_against_the_direction_are_found() {
    assert_each_breaks(
        layers,
        &[
            ("host/src/db/a.rs", "//! A.\nuse crate::http::error::Error;\n"),
            ("host/src/app.rs", "//! A.\nuse crate::{domain::{risk, money}, http::Error, wasm::ScoreError};\n"),
            ("host/src/domain/a.rs", "//! A.\nfn a(b: crate::clock::Clock) {}\n"),
            ("host/src/ledger/store/a.rs", "//! A.\nuse super::super::super::http;\n"),
            ("host/src/helpers.rs", "//! A.\n"),
        ],
    );
}
