//! The contracts, as released: banks have registered components that were built for them, and their decisions are replayed. One
//! such component is among the golden tests.

use std::fs;

use wit_component::semver_check;
use wit_parser::{Resolve, SourceMap, WorldId};

use crate::built::root;

/// Folders below `tests/wit` and `wit`, the package without its version, the version and the worlds.
const CONTRACTS: [(&str, &str, &str, &str, &[&str]); 3] = [
    (
        "1.0.0",
        "",
        "package caudal:scoring@",
        "1.0.0",
        &["risk-scorer", "nudge-scorer", "accessibility-scorer", "transfer-policy"],
    ),
    ("2.0.0/risk", "risk-2", "package caudal:risk@", "2.0.0", &["risk-scorer"]),
    ("2.0.0/rules", "rules-2", "package caudal:rules@", "2.0.0", &["transfer-policy"]),
];

/// The check ignores versions, but two packages in it need different ones.
const EARLIER: &str = "0.9.9";

/// The world in the files of a folder, whose package becomes another.
fn world(resolve: &mut Resolve, folder: &str, (package, other): (&str, &str), name: &str) -> WorldId {
    let mut sources = SourceMap::default();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "wit") {
            sources.push(&path, fs::read_to_string(&path).unwrap().replace(package, other));
        }
    }
    let group = sources.parse().map_err(|(_, error)| error).unwrap();
    let package = resolve.push_group(group).unwrap();
    resolve.select_world(&[package], Some(name)).unwrap()
}

#[test]
fn released_components_fit_the_worlds_of_today() {
    for (released, today, package, version, worlds) in CONTRACTS {
        for name in worlds {
            let mut resolve = Resolve::default();
            let [named, earlier] = [version, EARLIER].map(|version| format!("{package}{version};"));
            let frozen = world(&mut resolve, &format!("tests/wit/{released}"), (&named, &earlier), name);
            let today = world(&mut resolve, &format!("wit/{today}"), (&named, &named), name);
            semver_check(resolve, frozen, today)
                .unwrap_or_else(|error| panic!("{package}{version}, {name}: {error:#}"));
        }
    }
}
