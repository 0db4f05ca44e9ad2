//! Names and kinds of code that only some files may contain.

use std::fs;

use regex::Regex;

use crate::source::{Source, all_rust, assert_clean, assert_each_breaks, host, root};

/// What only some files of the host may name: the name, its pattern, the paths.
const FENCES: [(&str, &str, &[&str]); 7] = [
    ("wasmtime", r"\bwasmtime\b", &["host/core/src/wasm/"]),
    ("js_component_bindgen", r"\bjs_component_bindgen\b", &["host/core/src/wasm/portable.rs"]),
    ("axum", r"\baxum\b", &["host/src/http/"]),
    ("caudal_model", r"\bcaudal_model\b", &[]),
    (
        "a query",
        r"\bquery(_[a-z]+)*!|\bsqlx::query|\b(raw_sql|AssertSqlSafe|QueryBuilder|Executor)\b",
        &[
            "host/core/src/db/",
            "host/core/src/ledger/store/",
            // Creates the database, so it runs before there is one to check queries against.
            "host/core/src/postgres/cluster.rs",
        ],
    ),
    ("the environment", r"(^|[^.\w])env\b([^!\w]|$)", &["host/src/config.rs", "host/src/config/"]),
    ("the time of day", r"\bnow_(utc|local|v7)\b|\b(SystemTime|UtcDateTime)::now\b", &["host/core/src/clock.rs"]),
];

/// Where unsafe code may be: a guest's allocator, and the loading of authenticated machine code.
const MAY_BE_UNSAFE: [&str; 2] = ["components/guest/", "host/core/src/wasm/cache.rs"];

fn fences(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, pattern, places) in FENCES {
        let complaint = format!("names {name}, which is allowed only in {places:?}");
        for source in sources.iter().filter(|source| !places.iter().any(|place| source.path.starts_with(place))) {
            complaints.extend(source.find(&source.code, pattern, &complaint));
        }
    }
    complaints
}

/// Crates of value types, and of their text, that the domain may use besides std.
const VALUE_TYPES: [&str; 3] = ["hex", "time", "uuid"];

/// Places where the domain names another crate than std and those of its value types.
fn pure_domain(sources: &[Source]) -> Vec<String> {
    let manifest = fs::read_to_string(root().join("host/Cargo.toml")).unwrap();
    let dependencies = Regex::new(r"(?m)^([a-z][a-z0-9_-]*)(\.workspace)? = ").unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let names = dependencies.captures_iter(section).map(|found| found[1].replace('-', "_"));
    let names: Vec<_> = names.filter(|name| !VALUE_TYPES.contains(&name.as_str())).collect();
    assert!(names.iter().any(|name| name == "axum") && names.len() > 10, "dependencies of host/Cargo.toml: {names:?}");
    let pattern = format!(r"(^|[^:\w])({0})::|\b(use|extern crate) ({0})\b", names.join("|"));
    let domain = sources.iter().filter(|source| source.module() == Some("domain"));
    domain
        .flat_map(|source| {
            source.find(&source.shipped_code(), &pattern, "the domain names more than std and value types")
        })
        .collect()
}

fn unsafe_code(sources: &[Source]) -> Vec<String> {
    let sources = sources.iter().filter(|source| !MAY_BE_UNSAFE.iter().any(|it| source.path.starts_with(it)));
    let complaint = format!("unsafe code, which is allowed only in {MAY_BE_UNSAFE:?}");
    sources.flat_map(|it| it.find(&it.code, r"\bunsafe\b", &complaint)).collect()
}

#[test]
fn names_stay_inside_their_fences() {
    assert_clean(fences(&host()));
}

#[test]
fn the_domain_is_pure() {
    assert_clean(pure_domain(&host()));
}

#[test]
fn unsafe_code_is_in_the_guest_crate_and_where_machine_code_is_loaded() {
    assert_clean(unsafe_code(&all_rust()));
}

#[test]
fn texts_outside_a_fence_are_found() {
    assert_each_breaks(
        fences,
        &[
            ("host/src/http/a.rs", "//! A.\nfn a() { wasmtime::a(); }\n"),
            ("host/core/src/db/a.rs", "//! A.\nuse axum::Router;\n"),
            ("host/core/src/models/a.rs", "//! A.\nuse caudal_model as model;\n"),
            ("host/src/http/a.rs", "//! A.\nlet a = sqlx::query(text);\n"),
            ("host/src/cli/a.rs", "//! A.\nlet a = query_scalar!(\"select 1\");\n"),
            ("host/core/src/ledger/apply.rs", "//! A.\nuse sqlx::Executor as _;\n"),
            ("host/src/cli/a.rs", "//! A.\nuse std::{env, fs};\n"),
            ("host/src/cli/a.rs", "//! A.\nlet a = std::env::var(name);\n"),
            ("host/src/http/a.rs", "//! A.\nlet a = OffsetDateTime::now_utc();\n"),
            ("host/core/src/db/a.rs", "//! A.\nlet a = SystemTime::now();\n"),
        ],
    );
    assert_each_breaks(pure_domain, &[("host/core/src/domain/a.rs", "//! A.\nuse serde::Serialize;\n")]);
    assert_each_breaks(unsafe_code, &[("components/model/src/a.rs", "//! A.\nlet a = unsafe { b() };\n")]);
    let source = Source::new("host/core/src/db/a.rs", "//! A.\n\nuse axum::A;\n");
    assert!(fences(&[source])[0].starts_with("host/core/src/db/a.rs:3: "));
}

#[test]
fn look_alikes_break_no_fence() {
    let text = "let d = command.env(A, B); let e = env!(\"X\"); let f = std::time::A;\n";
    let source = [Source::new("host/core/src/domain/a.rs", text)];
    assert_clean([fences(&source), pure_domain(&source), unsafe_code(&source)].concat());
}
