//! Version 1.0.0 of the contract, as released: banks have registered components that were built for it, and their decisions
//! are replayed. One such component is among the golden tests.

use std::fs;

use wit_component::semver_check;
use wit_parser::{Resolve, SourceMap, WorldId};

use crate::built::{WORLDS, root};

const PACKAGE: &str = "package caudal:scoring@1.0.0;";
/// The check ignores versions, but two packages in it need different ones.
const EARLIER: &str = "package caudal:scoring@0.9.9;";

/// The world in the files of a folder. Their package becomes `package`.
fn world(resolve: &mut Resolve, folder: &str, package: &str, name: &str) -> WorldId {
    let mut sources = SourceMap::default();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "wit") {
            sources.push(&path, fs::read_to_string(&path).unwrap().replace(PACKAGE, package));
        }
    }
    let group = sources.parse().map_err(|(_, error)| error).unwrap();
    let package = resolve.push_group(group).unwrap();
    resolve.select_world(&[package], Some(name)).unwrap()
}

#[test]
fn components_of_1_0_0_fit_the_worlds_of_today() {
    for (_, name) in WORLDS {
        let mut resolve = Resolve::default();
        let frozen = world(&mut resolve, "tests/wit/1.0.0", EARLIER, name);
        let today = world(&mut resolve, "wit", PACKAGE, name);
        semver_check(resolve, frozen, today).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    }
}
