//! The contract of both listeners: the committed outlines are those of the documents that are served, and every error
//! code is described.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod outline;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use caudal::http::operation::Api;
use caudal::http::{ASSIST, LEDGER, error, openapi};
use caudal::models::publishing::package;
use caudal::wasm::Runtime;
use outline::{outline, walk};

const APIS: [&Api; 2] = [&LEDGER, &ASSIST];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_contract_changes_only_on_purpose() {
    for api in APIS {
        let name = api.name;
        let path = root().join("tests/contract").join(name).with_extension("txt");
        let outline = outline(&openapi::document(api));
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

#[test]
fn every_error_code_is_described() {
    let described: BTreeSet<_> = APIS.into_iter().flat_map(openapi::documented_codes).collect();
    let all: BTreeSet<_> = openapi::all_codes().collect();
    assert_eq!(described, all);
}

/// What the page tells people never to repeat without looking is every other failure of the host.
#[test]
fn the_page_knows_which_failures_changed_nothing() {
    let source = fs::read_to_string(root().join("host/web/bank/problems.js")).unwrap();
    let list = source.split("const UNCHANGED = [").nth(1).unwrap().split(']').next().unwrap();
    let known: BTreeSet<_> = list.split('"').skip(1).step_by(2).collect();
    let failures = || error::ALL.iter().filter(|kind| kind.status.is_server_error());
    let open: BTreeSet<_> = failures().filter(|kind| !kind.unchanged).map(|kind| kind.code).collect();
    assert_eq!(known, failures().map(|kind| kind.code).filter(|code| !open.contains(code)).collect());
}

#[test]
fn references_lead_somewhere_and_ids_are_unique() {
    for api in APIS {
        let name = api.name;
        let document = openapi::document(api);
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
