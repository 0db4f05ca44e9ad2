//! The documents: commands run as printed, links lead somewhere, and generated tables are current.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod commands;
mod links;
#[expect(dead_code, reason = "shared with the tests of the commands, which use all of it")]
#[path = "../cli/process.rs"]
mod process;
mod settings;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(document: &str) -> String {
    let path = root().join(document);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
