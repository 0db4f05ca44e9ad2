//! The contract of both listeners: the committed outlines are those of the documents that are served, and every error
//! code is described.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod outline;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use caudal::domain::fact::FACTS;
use caudal::domain::fact::explanation::FEATURES;
use caudal::domain::reason::{self, Words};
use caudal::http::operation::Api;
use caudal::http::{ASSIST, LEDGER, error, openapi, types};
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
        assert_committed(&format!("tests/contract/{name}.txt"), &outline(&openapi::document(api)));
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

/// Compares a generated file with the committed one, or writes it.
fn assert_committed(path: &str, generated: &str) {
    let path = root().join(path);
    if std::env::var_os("RENEW").is_some() {
        fs::write(&path, generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let different = generated.lines().zip(committed.lines()).find(|(is, was)| is != was);
    assert!(
        generated == committed,
        "a declaration changed, and with it {}, first at {different:?}; if that is meant, renew it:\n\
         RENEW=1 cargo test --package caudal --test contract",
        path.display()
    );
}

#[test]
fn the_types_of_the_pages_are_those_of_the_declarations() {
    assert_committed("host/web/shared/answers.d.ts", &types());
}

#[test]
fn the_page_says_of_reasons_what_the_host_says() {
    let lines: String = reason::words().iter().map(|(code, words)| line(code, words)).collect();
    let about = "// What codes of factors and reasons say; generated from the host's declarations.\n";
    assert_committed("host/web/bank/reason-words.js", &format!("{about}\nexport default {{\n{lines}}};\n"));
}

#[test]
fn the_page_calls_facts_what_the_host_calls_them() {
    let facts: String = FACTS.iter().map(|fact| line(fact.name, &fact.words)).collect();
    let features: String = FEATURES.iter().map(|(feature, fact)| format!("  {feature}: {fact:?},\n")).collect();
    let about = "// What customers know facts as; generated from the host's declarations.\n";
    let features_about = "/** The facts that features of contract 1 are made of. */";
    let text = format!(
        "{about}\nexport const FACTS = {{\n{facts}}};\n\n{features_about}\nexport const FEATURES = {{\n{features}}};\n"
    );
    assert_committed("host/web/bank/fact-words.js", &text);
}

/// A line of a table of words.
fn line(name: &str, words: &Words) -> String {
    format!("  {name}: {{\n    es: {:?},\n    en: {:?},\n  }},\n", words.es, words.en)
}

#[test]
fn the_types_of_the_package_are_those_of_the_declarations() {
    let files = package::files(&Runtime::new().unwrap()).unwrap();
    let (_, types) = files.iter().find(|(path, _)| path == "types.d.ts").unwrap();
    assert_committed("components/js/src/types.d.ts", &String::from_utf8_lossy(types));
}
