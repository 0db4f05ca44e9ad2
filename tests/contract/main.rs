//! The contract of both listeners: the committed outlines are those of the documents that are served, and every route and
//! error code is described.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod outline;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use caudal::domain::model::ModelKind;
use caudal::http::openapi::{self, Listener};
use caudal::models::publishing::package;
use caudal::wasm::Runtime;
use outline::{outline, walk};
use regex::Regex;

const LISTENERS: [(Listener, &str, &str); 2] =
    [(Listener::Ledger, "ledger", "ledger_router"), (Listener::Assist, "assist", "assist_router")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_contract_changes_only_on_purpose() {
    for (listener, name, _) in LISTENERS {
        let path = root().join("tests/contract").join(name).with_extension("txt");
        let outline = outline(&openapi::document(listener));
        if std::env::var_os("RENEW").is_some() {
            fs::write(&path, &outline).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let different = outline.lines().zip(committed.lines()).find(|(is, was)| is != was);
        assert!(
            outline == committed,
            "the API of the {name} listener changed, first at {different:?}; if that is meant, renew the outline:\n\
             RENEW=1 cargo test --package caudal --test contract"
        );
    }
}

/// `GET /path`, and so on, as the router's source registers them.
fn routes(router: &str) -> BTreeSet<String> {
    let source = fs::read_to_string(root().join("host/src/http/mod.rs")).unwrap();
    let body = source.split(&format!("fn {router}(")).nth(1).unwrap().split("\n}\n").next().unwrap();
    let route = Regex::new(r#"(?s)\.route\(\s*"([^"]+)",(.*?)(?:\n        \.|;)"#).unwrap();
    let method = Regex::new(r"\b(get|post|put|delete|patch)\(").unwrap();
    let mut found = BTreeSet::new();
    // Matches may not overlap, and the end of one route is the beginning of the next.
    for part in body.split("\n        .route(").skip(1) {
        let text = format!(".route({part};");
        let route = route.captures(&text).unwrap();
        for method in method.captures_iter(&route[2]) {
            found.insert(format!("{} {}", &method[1], route[1].replace("{*", "{")));
        }
    }
    if router == "assist_router" {
        // Made from the list of kinds.
        found.extend(ModelKind::SCORERS.iter().map(|kind| format!("post /ai/{kind}")));
    }
    found
}

#[test]
fn every_route_is_described_and_nothing_else() {
    for (listener, name, router) in LISTENERS {
        let document = openapi::document(listener);
        let paths = document["paths"].as_object().unwrap().iter();
        let described: BTreeSet<_> = paths
            .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(move |it| format!("{it} {path}")))
            .collect();
        assert!(described.len() > 20);
        assert_eq!(described, routes(router), "{name}");
    }
}

#[test]
fn every_error_code_is_described() {
    let described: BTreeSet<_> = openapi::documented_codes().into_iter().collect();
    let all: BTreeSet<_> = openapi::all_codes().collect();
    assert_eq!(described, all);
}

#[test]
fn references_lead_somewhere_and_ids_are_unique() {
    for (listener, name, _) in LISTENERS {
        let document = openapi::document(listener);
        let mut ids = BTreeSet::new();
        walk(&document, "", &mut |path, value| {
            if path.ends_with("/$ref") {
                let target = value.as_str().unwrap().trim_start_matches('#');
                assert!(document.pointer(target).is_some_and(|it| !it.is_null()), "{name}{path}: {target}");
            }
            if path.ends_with("/operationId") {
                assert!(ids.insert(value.as_str().unwrap()), "{name}{path}");
            }
        });
    }
}

#[test]
fn the_types_of_the_package_are_those_of_the_declarations() {
    let files = package::files(&Runtime::new().unwrap()).unwrap();
    let (_, types) = files.iter().find(|(path, _)| path == "types.d.ts").unwrap();
    let committed = fs::read_to_string(root().join("components/js/src/types.d.ts")).unwrap_or_default();
    assert!(
        String::from_utf8_lossy(types) == committed,
        "requests or answers of a scorer changed; renew the types:\n\
         caudal models package components/js/dist && cp components/js/dist/types.d.ts components/js/src"
    );
}
